#pragma once

// The memory of a virtual device: addresses for its whole limit, and memory behind the first of
// them. What lies beyond is not there: an access ends the run.

#include <cstddef>
#include <span>
#include <string>

#include "models/base/quantity.h"
#include "simulator/values/cuda/driver/gpus.h"

namespace orrery::cuda {

/// Bytes of an arena, from its start.
struct ByteRange {
  Bytes first;
  Bytes size;

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

struct ArenaSize {
  Bytes limit;  // addresses
  Bytes used;   // memory; at most the limit
};

class DeviceArena {
 public:
  /// On GPU `owner`, seen by its viewers. `name` is for errors: "virtual device 3". The sizes are
  /// rounded up to what the driver gives at once. Requires 0 <= used <= limit. Throws CudaError:
  /// out of memory where the GPU has less.
  DeviceArena(const Gpus& gpus, size_t owner, ArenaSize size, std::string name);
  DeviceArena(const DeviceArena&) = delete;
  DeviceArena& operator=(const DeviceArena&) = delete;
  ~DeviceArena();

  const Gpu& gpu() const { return gpu_; }
  const std::string& name() const { return name_; }
  Bytes limit() const { return size_.limit; }
  Bytes used() const { return size_.used; }
  /// With memory behind it: `used` rounded up.
  Bytes backed() const { return backed_; }
  /// The bytes beyond `used` that have memory all the same.
  ByteRange beyond() const { return {size_.used, backed_ - size_.used}; }

  CUdeviceptr address(Bytes offset = Bytes()) const {
    return base_ + static_cast<CUdeviceptr>(offset.count());
  }

  // Beside all streams: what runs must have been waited for, and each has ended when it returns.
  // Each stays inside what is backed. They throw CudaError.
  void write(Bytes offset, std::span<const std::byte> from) const;
  void read(Bytes offset, std::span<std::byte> to) const;
  void fill(ByteRange range, std::byte value) const;

 private:
  void back(const Gpus& gpus, size_t owner);
  void release() noexcept;
  /// Waits for the default stream: a write or a fill goes on after its call returns, and no other
  /// stream waits for it.
  template <class Purpose>
  void settle(const Purpose& purpose) const {
    gpu_.driver().cuStreamSynchronize.must(purpose, nullptr);
  }
  void check_inside(ByteRange range) const;

  const Gpu& gpu_;
  ArenaSize size_;
  std::string name_;
  Bytes reserved_;
  Bytes backed_;
  CUdeviceptr base_ = 0;  // 0: nothing is reserved
  bool mapped_ = false;
};

}  // namespace orrery::cuda
