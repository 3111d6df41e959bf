// Tests whether the messages on a link exceed its capacity at any time: at exact boundaries, and
// against a slow check that looks at every instant.

#include "simulator/time/capacity.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "tests/simulator/time/sketch.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

constexpr int64_t kCapacity = 1'000'000'000;  // bytes per second, of each link of the fabric

/// Returns a check that looks at every link of two devices.
CapacityCheck watching(const Fabric& fabric) {
  Demands demands;
  for (size_t l = 0; l < fabric.count_links(); ++l)
    demands.links.push_back({Int128{2 * kCapacity}, 2, 0});
  return {fabric, demands};
}

struct Use {
  int64_t begin;
  int64_t end;
  int64_t rate;
};

bool fits(const std::vector<Use>& uses) {
  const Fabric fabric = gigabyte_fabric(2);
  CapacityCheck check = watching(fabric);
  for (const Use& use : uses)
    check.add(LinkId(0), Instant(use.begin), Instant(use.end), BytesPerSecond(use.rate));
  return check.holds();
}

TEST_CASE("capacity: messages one after another fit, an overlap of one picosecond does not") {
  CHECK(fits({{0, 10, kCapacity}, {10, 20, kCapacity}}));
  CHECK_FALSE(fits({{0, 10, kCapacity}, {9, 20, kCapacity}}));
  CHECK(fits({{10, 20, kCapacity}, {0, 10, kCapacity}}));
  CHECK_FALSE(fits({{10, 20, kCapacity}, {0, 11, kCapacity}}));
}

TEST_CASE("capacity: rates may add up to the capacity, and not to one byte per second more") {
  CHECK(fits({{0, 10, kCapacity / 2}, {5, 15, kCapacity / 2}}));
  CHECK_FALSE(fits({{0, 10, kCapacity / 2}, {5, 15, kCapacity / 2 + 1}}));
  CHECK(fits({{0, 10, kCapacity - 1}, {0, 10, 1}}));
  CHECK_FALSE(fits({{0, 10, kCapacity - 1}, {0, 10, 1}, {9, 10, 1}}));
}

TEST_CASE("capacity: a message that takes no time uses no capacity") {
  CHECK(fits({{0, 10, kCapacity}, {5, 5, kCapacity}}));
}

TEST_CASE("capacity: only links whose possible demand exceeds their capacity are checked") {
  const Fabric fabric = gigabyte_fabric(2);
  Demands demands;
  demands.links = {{Int128{kCapacity}, 1, 0}, {Int128{kCapacity} + 1, 2, 0}};
  const CapacityCheck check(fabric, demands);
  CHECK(check.needed());
  CHECK_FALSE(check.looks_at(LinkId(0)));
  CHECK(check.looks_at(LinkId(1)));
}

TEST_CASE("capacity: random uses in random order, against a check of every instant") {
  Random random(5);
  uint64_t held = 0;
  for (uint64_t round = 0; round < tries(2'000); ++round) {
    std::vector<Use> uses;
    const auto count = random.between(1, 12);
    for (int64_t u = 0; u < count; ++u) {
      const int64_t begin = random.between(0, 30);
      uses.push_back({begin, begin + random.between(0, 8), random.between(1, 4) * kCapacity / 4});
    }
    bool expected = true;
    for (int64_t at = 0; at < 40; ++at) {
      int64_t sum = 0;
      for (const Use& use : uses)
        sum += use.begin <= at && at < use.end ? use.rate : 0;
      expected = expected && sum <= kCapacity;
    }
    held += expected ? 1 : 0;
    REQUIRE(fits(uses) == expected);
  }
  CHECK(held > tries(200));
  CHECK(held < tries(1'800));
}

TEST_CASE("capacity: use of times that are forgotten counts as too much") {
  // There are more stretches than are remembered for a link, with gaps between them.
  std::vector<Use> uses;
  for (int64_t u = 0; u < 2'000'000; ++u)
    uses.push_back({2 * u, 2 * u + 1, kCapacity});
  CHECK(fits(uses));
  uses.push_back({1, 2, 1});  // in a gap, but long ago
  CHECK_FALSE(fits(uses));
}

}  // namespace
}  // namespace orrery::test
