#pragma once

// The only source of randomness: xoshiro256** (Blackman and Vigna, 2018) seeded by splitmix64. Its
// output is part of the determinism contract, so nothing here uses <random>.

#include <array>
#include <cstdint>

namespace orrery {

class Random {
 public:
  explicit Random(uint64_t seed);

  uint64_t next();

  /// Uniform in [0, bound) without bias (Lemire, 2019). Requires bound > 0.
  uint64_t below(uint64_t bound);

  /// Uniform in [low, high]. Requires low <= high.
  int64_t between(int64_t low, int64_t high);

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace orrery
