// Tests that a SharedMap gives each key one result, whichever thread adds it.

#include "models/base/shared_map.h"

#include <array>
#include <atomic>

#include <doctest/doctest.h>

#include "models/base/callable.h"

namespace orrery::test {
namespace {

TEST_CASE("shared map: the first result of a key stays") {
  SharedMap<int, int> map;
  CHECK_FALSE(map.find(1));
  CHECK(map.add(1, 10) == 10);
  CHECK(map.add(1, 11) == 10);
  CHECK(map.find(1) == 10);
  CHECK(map.size() == 1);
}

TEST_CASE("shared map: beyond the most results, the earlier ones are forgotten") {
  SharedMap<int, int> map(2);
  map.add(1, 10);
  map.add(2, 20);
  map.add(3, 30);
  CHECK(map.size() == 1);
  CHECK_FALSE(map.find(1));
  CHECK(map.find(3) == 30);
}

TEST_CASE("shared map: threads that add results of the same keys all get the same ones") {
  constexpr int kKeys = 1'000;
  SharedMap<int, int> map;
  std::array<std::array<int, kKeys>, 4> got = {};
  std::atomic<size_t> threads = 0;
  run_in_threads(got.size(), [&] {
    const size_t thread = threads++;
    for (int key = 0; key < kKeys; ++key)
      got[thread][static_cast<size_t>(key)] = map.add(key, static_cast<int>(thread));
  });
  for (int key = 0; key < kKeys; ++key)
    for (const auto& of_thread : got)
      REQUIRE(of_thread[static_cast<size_t>(key)] == map.find(key));
}

}  // namespace
}  // namespace orrery::test
