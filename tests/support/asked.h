#pragma once

// The counts that a run of tests may ask for by the environment: few random programs in CI, more in
// a long run.

#include <cstdint>
#include <cstdlib>

namespace orrery::test {

/// The number in the variable; `otherwise` where it is not set.
inline uint64_t asked(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace orrery::test
