#include "tests/support/tries.h"

#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>

#include "models/base/hash.h"

namespace orrery::test {

namespace {

/// Throws where the variable is not a whole number from 1, since a test of no programs would pass.
uint64_t percent() {
  const char* const text = std::getenv("ORRERY_RANDOM_PERCENT");
  if (text == nullptr)
    return 100;
  const std::string given = text;
  const char* const end = given.data() + given.size();
  uint64_t number = 0;
  const auto [stop, error] = std::from_chars(given.data(), end, number);
  if (error != std::errc() || stop != end || number == 0)
    throw std::runtime_error("ORRERY_RANDOM_PERCENT: expected a whole number from 1, got \"" +
                             given + "\"");
  return number;
}

}  // namespace

uint64_t tries(uint64_t usually) {
  return (usually * percent() + 99) / 100;
}

bool is_tried(uint64_t seed) {
  return mix(seed) % 100 < percent();
}

bool is_all_tried() {
  return percent() >= 100;
}

bool is_sanitized() {
#if defined(__SANITIZE_ADDRESS__)
  return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  return true;
#endif
#endif
  return false;
}

bool is_tried_sanitized(uint64_t seed) {
  return !is_sanitized() || is_tried(seed);
}

}  // namespace orrery::test
