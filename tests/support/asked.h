#pragma once

// The counts that a run of tests may ask for by the environment: few random programs in CI, more in
// a long run.

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>

namespace orrery::test {

/// The number in the variable; `otherwise` where it is not set. Throws where it is none from 1: a
/// test of no programs would pass.
inline uint64_t asked(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  if (text == nullptr)
    return otherwise;
  const std::string given = text;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), number);
  if (error != std::errc() || end != given.data() + given.size() || number == 0)
    throw std::runtime_error(std::string(variable) + ": expected a whole number from 1, got \"" +
                             given + "\"");
  return number;
}

}  // namespace orrery::test
