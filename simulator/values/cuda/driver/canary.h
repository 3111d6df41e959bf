#pragma once

// A known pattern in bytes of an arena that nothing may write: the padding between tensors, and
// what lies beyond the last. Whatever has changed there was written out of bounds.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "simulator/values/cuda/driver/arena.h"

namespace orrery::cuda {

/// The byte at `offset`. It differs between offsets and between seeds, so that a copy of one canary
/// over another is seen too (of 255 wrong bytes in 256).
std::byte canary(uint64_t seed, Bytes offset);

/// Throws CudaError.
void write_canaries(const DeviceArena& arena, std::span<const ByteRange> ranges, uint64_t seed);

struct CanaryDamage {
  ByteRange range;  // the canary
  Bytes offset;     // in the arena, of the first byte that is wrong
  std::byte expected;
  std::byte found;
};

/// The damage in the first of `ranges` that has any; of none, nothing. Throws CudaError.
std::optional<CanaryDamage> damaged_canary(const DeviceArena& arena,
                                           std::span<const ByteRange> ranges, uint64_t seed);

/// "virtual device 3: the byte at offset 4096 was overwritten: expected 0x1f, got 0x00 (guards
/// bytes 4096 to 4351)".
std::string damage_text(const DeviceArena& arena, const CanaryDamage& damage);

}  // namespace orrery::cuda
