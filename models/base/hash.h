#pragma once

// These hashes are part of the output (fingerprints, digests). They are the same on every machine.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "models/base/compiler.h"

namespace orrery {

/// Mixes 64 bits so that every input bit reaches every output bit (the finaliser of splitmix64).
constexpr uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

/// Mixes two words into one with one multiplication: the two halves of their product, combined by
/// exclusive or (as wyhash does). Neither word may be one that is always 0.
constexpr uint64_t mix(uint64_t a, uint64_t b) {
  const UInt128 product = UInt128{a} * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64U);
}

/// A Hasher makes a 128-bit hash of a sequence. Different sequences collide only by chance. It
/// detects mistakes, not deliberate collisions.
class Hasher {
 public:
  void add(uint64_t word) {
    low_ = mix(low_ + word + 0x9e3779b97f4a7c15U);
    high_ = mix((high_ ^ word) * 0xd6e8feb86659fd93U + 0xa0761d6478bd642fU);
  }
  void add(int64_t word) { add(static_cast<uint64_t>(word)); }
  void add(uint32_t word) { add(uint64_t{word}); }
  void add(std::string_view text);
  void add(std::span<const std::byte> bytes);

  /// Returns the hash as 32 lower-case hexadecimal digits.
  std::string text() const;
  uint64_t word() const { return mix(low_ ^ high_); }

 private:
  uint64_t low_ = 0x243f6a8885a308d3U;
  uint64_t high_ = 0x13198a2e03707344U;
};

}  // namespace orrery
