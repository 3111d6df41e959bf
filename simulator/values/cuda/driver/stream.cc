#include "simulator/values/cuda/driver/stream.h"

#include <fmt/format.h>

namespace orrery::cuda {

Stream::Stream(const Gpu& gpu) : gpu_(&gpu) {
  gpu.make_current();
  CUstream stream = nullptr;
  gpu.driver().cuStreamCreate.must(
      [&] { return fmt::format("a stream of GPU {}", gpu.info().device); }, &stream,
      CU_STREAM_NON_BLOCKING);
  stream_ = Owned(gpu.driver().cuStreamDestroy, stream);
}

Stream::~Stream() {
  if (stream_.get() != nullptr)
    gpu_->driver().cuStreamSynchronize(stream_.get());
}

void Stream::synchronize(std::string_view purpose) const {
  gpu_->driver().cuStreamSynchronize.must(purpose, stream_.get());
}

}  // namespace orrery::cuda
