// Tests that a SharedMap gives each key one result, whichever thread adds it.

#include "models/base/shared_map.h"

#include <array>
#include <atomic>
#include <stdexcept>

#include <doctest/doctest.h>

#include "models/base/callable.h"

namespace orrery::test {
namespace {

TEST_CASE("shared map: the first result of a key stays") {
  SharedMap<int, int> map;
  CHECK(map.get(1, [] { return 10; }) == 10);
  CHECK(map.get(1, [] { return 11; }) == 10);
  CHECK(map.get(2, [] { return 20; }) == 20);
}

TEST_CASE("shared map: beyond the most results, the earlier ones are forgotten") {
  SharedMap<int, int> map(2);
  map.get(1, [] { return 10; });
  map.get(2, [] { return 20; });
  CHECK(map.get(1, [] { return 11; }) == 10);
  map.get(3, [] { return 30; });
  CHECK(map.get(1, [] { return 11; }) == 11);
  CHECK(map.get(3, [] { return 31; }) == 30);
}

TEST_CASE("shared map: after an exception the next one makes the result") {
  SharedMap<int, int> map;
  CHECK_THROWS_AS(map.get(1, []() -> int { throw std::runtime_error("too long"); }),
                  std::runtime_error);
  CHECK(map.get(1, [] { return 10; }) == 10);
}

TEST_CASE("shared map: each result is made once, and all threads get it") {
  constexpr int kKeys = 1'000;
  SharedMap<int, int> map;
  std::atomic<int> made = 0;
  std::array<std::array<int, kKeys>, 4> got = {};
  std::atomic<size_t> threads = 0;
  run_in_threads(got.size(), [&] {
    const size_t thread = threads++;
    for (int key = 0; key < kKeys; ++key)
      got[thread][static_cast<size_t>(key)] = map.get(key, [&] { return ++made; });
  });
  CHECK(made == kKeys);
  for (size_t key = 0; key < kKeys; ++key)
    for (const auto& of_thread : got)
      REQUIRE(of_thread[key] == got[0][key]);
}

}  // namespace
}  // namespace orrery::test
