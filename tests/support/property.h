#pragma once

// rapidcheck properties inside doctest cases. A failure prints the shrunk counterexample and the
// RC_PARAMS that replay it.

#include <sstream>
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace orrery::test {

/// Checks `testable` (a callable over generated values, which returns bool or uses RC_ASSERT) on
/// random cases, as one assertion of the enclosing test case.
template <class Testable>
void holds_for_all(const char* what, Testable&& testable) {
  rc::detail::TestMetadata metadata;
  metadata.id = what;
  metadata.description = what;
  const rc::detail::TestResult result =
      rc::detail::checkTestable(std::forward<Testable>(testable), metadata);
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  const std::string message = text.str();
  INFO(what << ": " << message);
  CHECK(result.is<rc::detail::SuccessResult>());
}

}  // namespace orrery::test
