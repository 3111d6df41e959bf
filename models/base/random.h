#pragma once

// Random is the only source of randomness. It is xoshiro256** (Blackman and Vigna, 2018) seeded by
// splitmix64. Its output must be the same on every machine, so nothing here uses <random>.

#include <array>
#include <cstdint>

namespace orrery {

class Random {
 public:
  explicit Random(uint64_t seed);

  uint64_t next();

  /// Returns a uniform number in [0, bound) without bias (Lemire, 2019). Requires bound > 0.
  uint64_t below(uint64_t bound);

  /// Returns a uniform number in [low, high]. Requires low <= high.
  int64_t between(int64_t low, int64_t high);

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace orrery
