#include "simulator/values/cuda/driver/pinned_memory.h"

#include <fmt/format.h>

namespace orrery::cuda {

PinnedMemory::PinnedMemory(const Gpu& gpu, Bytes size) : gpu_(gpu) {
  gpu.make_current();
  void* memory = nullptr;
  gpu.driver().cuMemHostAlloc.must(
      [&] { return fmt::format("{} bytes of pinned memory", size.count()); }, &memory,
      static_cast<size_t>(size.count()), 0);
  bytes_ = {static_cast<std::byte*>(memory), static_cast<size_t>(size.count())};
}

PinnedMemory::~PinnedMemory() {
  gpu_.try_make_current();
  gpu_.driver().cuMemFreeHost(bytes_.data());
}

}  // namespace orrery::cuda
