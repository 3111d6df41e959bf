#include "simulator/values/cuda/driver/stream.h"

#include <cmath>

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

Event::Event(const Gpu& gpu) : gpu_(&gpu) {
  gpu.make_current();
  CUevent event = nullptr;
  gpu.driver().cuEventCreate.must(
      [&] { return fmt::format("an event of GPU {}", gpu.info().device); }, &event,
      CU_EVENT_DEFAULT);
  event_ = Owned(gpu.driver().cuEventDestroy, event);
}

void Event::record(const Stream& stream) const {
  gpu_->driver().cuEventRecord.must("the time in a stream", event_.get(), stream.get());
}

void Event::synchronize(std::string_view purpose) const {
  gpu_->driver().cuEventSynchronize.must(purpose, event_.get());
}

Duration Event::since(const Event& start) const {
  float milliseconds = 0;
  gpu_->driver().cuEventElapsedTime.must("the time between two events", &milliseconds,
                                         start.event_.get(), event_.get());
  return Duration(std::llround(double{milliseconds} * 1e9));
}

}  // namespace orrery::cuda
