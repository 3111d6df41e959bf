#include "models/base/random.h"

#include <bit>

#include "models/base/check.h"
#include "models/base/compiler.h"

namespace orrery {

Random::Random(uint64_t seed) : state_{} {
  for (uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15U;
    uint64_t z = seed;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    word = z ^ (z >> 31U);
  }
}

uint64_t Random::next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t Random::below(uint64_t bound) {
  ORRERY_CHECK(bound > 0, "a draw is from a range that is not empty");
  UInt128 product = UInt128{next()} * bound;
  if (static_cast<uint64_t>(product) < bound) {
    const uint64_t threshold = (0 - bound) % bound;
    while (static_cast<uint64_t>(product) < threshold)
      product = UInt128{next()} * bound;
  }
  return static_cast<uint64_t>(product >> 64U);
}

int64_t Random::between(int64_t low, int64_t high) {
  ORRERY_CHECK(low <= high, "a draw is from a range that is not empty");
  const uint64_t width = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  const uint64_t offset = width == 0 ? next() : below(width);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
}

}  // namespace orrery
