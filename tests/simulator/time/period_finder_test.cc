// Tests when a sequence of states is found to repeat.

#include "simulator/time/period_finder.h"

#include <optional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace orrery {
namespace {

/// Returns the look at which a period is found, and the earlier look that it names. Each state is a
/// number.
template <class State>
std::optional<std::pair<int, int>> found(int looks, State&& state) {
  PeriodFinder<int> finder;
  for (int look = 0; look < looks; ++look)
    if (const auto before = finder.look({static_cast<uint64_t>(state(look))}, [&] { return look; }))
      return std::pair(look, *before);
  return std::nullopt;
}

TEST_CASE("period finder: a state that stays is found at the third look") {
  CHECK(found(10, [](int) { return 5; }) == std::pair(2, 1));
}

TEST_CASE("period finder: looks before the first period do not matter") {
  CHECK(found(20, [](int look) { return look < 6 ? 100 + look : (look - 6) % 3; }) ==
        std::pair(12, 9));
}

TEST_CASE("period finder: the longest period has 64 looks") {
  CHECK(found(1000, [](int look) { return look % 64; }) == std::pair(128, 64));
  CHECK(found(1000, [](int look) { return look % 65; }) == std::nullopt);
}

TEST_CASE("period finder: a state that returns once is no period") {
  CHECK(found(12, [](int look) { return look == 3 ? 2 : look; }) == std::nullopt);
}

TEST_CASE("look pace: looks at a state that grows take no longer than the steps between them") {
  LookPace pace;
  uint64_t words = 0;
  for (uint64_t step = 1; step <= 1'000'000; ++step)
    if (pace.is_due(step)) {
      pace.looked(step, step);
      words += step;
    }
  CHECK(words <=
        16 * uint64_t{1'000'000} + 1'000'000);  // 16 words a step; the last is not paid yet
}

TEST_CASE("look pace: a state of 160 words is looked at after 10 steps") {
  LookPace pace;
  pace.looked(7, 160);
  CHECK_FALSE(pace.is_due(16));
  CHECK(pace.is_due(17));
}

}  // namespace
}  // namespace orrery
