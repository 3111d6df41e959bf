#pragma once

// This file has the memory of a run: arenas on the GPUs, bytes that guard them, and host memory.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "models/base/quantity.h"
#include "simulator/values/cuda/driver/gpu.h"

namespace orrery::cuda {

/// A ByteRange is bytes of an arena, counted from its start.
struct ByteRange {
  Bytes first;
  Bytes size;

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

struct ArenaSize {
  Bytes limit;  // addresses
  Bytes used;   // memory; at most the limit
};

/// A DeviceArena is the memory of a virtual device. It has addresses for its whole limit, and
/// memory behind the first of them. No memory is behind the others: an access there ends the run.
class DeviceArena {
 public:
  /// The arena lies on GPU `owner`, and the viewers of that GPU see it. `name` is for errors:
  /// "virtual device 3". The sizes are rounded up to the granule of the driver. Requires 0 <= used
  /// <= limit. Throws CudaError, which says out of memory if the GPU has less.
  DeviceArena(const Gpus& gpus, size_t owner, ArenaSize size, std::string name);
  DeviceArena(const DeviceArena&) = delete;
  DeviceArena& operator=(const DeviceArena&) = delete;
  ~DeviceArena();

  const Gpu& gpu() const { return gpu_; }
  const std::string& name() const { return name_; }
  Bytes limit() const { return size_.limit; }
  Bytes used() const { return size_.used; }
  /// Returns the bytes with memory behind them: `used` rounded up.
  Bytes backed() const { return backed_; }
  /// Returns the bytes beyond `used` that have memory all the same.
  ByteRange beyond() const { return {size_.used, backed_ - size_.used}; }

  CUdeviceptr address(Bytes offset = Bytes()) const {
    return base_ + static_cast<CUdeviceptr>(offset.count());
  }

  // These do not wait for streams: the caller must have waited for work that uses the bytes. Each
  // has ended when it returns. They require bytes that are backed. They throw CudaError.
  void write(Bytes offset, std::span<const std::byte> from) const;
  void read(Bytes offset, std::span<std::byte> to) const;
  void fill(ByteRange range, std::byte value) const;

 private:
  void back(const Gpus& gpus, size_t owner);
  void release() noexcept;
  /// Waits for the default stream, since a write or a fill goes on after its call returns and no
  /// other stream waits for it.
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

// Canaries are a known pattern in bytes of an arena that nothing may write: the padding between
// tensors, and what lies beyond the last one. A changed byte there was written out of bounds.

/// Returns the byte at `offset`. It varies with the offset and with the seed, so that a copy of one
/// canary over another is seen too (in 255 of 256 bytes).
std::byte canary(uint64_t seed, Bytes offset);

/// Writes the canaries. Throws CudaError.
void write_canaries(const DeviceArena& arena, std::span<const ByteRange> ranges, uint64_t seed);

struct CanaryDamage {
  ByteRange range;  // the canary
  Bytes offset;     // in the arena, of the first byte that is wrong
  std::byte expected;
  std::byte found;
};

/// Returns the damage in the first of `ranges` that has any; nothing if none has. Throws CudaError.
std::optional<CanaryDamage> damaged_canary(const DeviceArena& arena,
                                           std::span<const ByteRange> ranges, uint64_t seed);

/// Returns "virtual device 3: the byte at offset 4096 was overwritten: expected 0x1f, got 0x00
/// (guards bytes 4096 to 4351)".
std::string damage_text(const DeviceArena& arena, const CanaryDamage& damage);

/// PinnedMemory is memory of the host that the driver copies from and to without a detour.
class PinnedMemory {
 public:
  /// Requires size > 0. Throws CudaError.
  PinnedMemory(const Gpu& gpu, Bytes size);
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory();

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  const Gpu& gpu_;
  std::span<std::byte> bytes_;
};

}  // namespace orrery::cuda
