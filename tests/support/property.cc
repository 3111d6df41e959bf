#include "tests/support/property.h"

#include <sstream>
#include <string>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tests/support/tries.h"

namespace orrery::test {

namespace {

void check_on_random_cases(const char* what, const rc::detail::Property& property) {
  rc::detail::TestMetadata metadata;
  metadata.id = what;
  metadata.description = what;
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess = static_cast<int>(tries(static_cast<uint64_t>(params.maxSuccess)));
  const rc::detail::TestResult result = rc::detail::checkProperty(property, metadata, params);
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  const std::string message = text.str();
  INFO(what << ": " << message);
  CHECK(result.is<rc::detail::SuccessResult>());
}

}  // namespace

void check_property(const char* what, const std::function<void()>& property) {
  check_on_random_cases(what, rc::detail::toProperty([&] { property(); }));
}

void check_property(const char* what, const std::function<void(uint64_t)>& property) {
  check_on_random_cases(what, rc::detail::toProperty([&](uint64_t seed) { property(seed); }));
}

int64_t drawn_range(int64_t low, int64_t high) {
  return *rc::gen::inRange(low, high);
}

int64_t evenly_below(int64_t count) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<int64_t>(0, count));
}

bool any_bool() {
  return *rc::gen::arbitrary<bool>();
}

template <class Int>
Int any_int() {
  return *rc::gen::arbitrary<Int>();
}
template int8_t any_int();
template int16_t any_int();
template int32_t any_int();
template int64_t any_int();
template uint8_t any_int();
template uint16_t any_int();
template uint32_t any_int();
template uint64_t any_int();

}  // namespace orrery::test
