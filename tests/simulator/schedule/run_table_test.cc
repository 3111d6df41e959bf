#include "simulator/schedule/run_table.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/random.h"

namespace orrery {
namespace {

TEST_CASE("run table: runs are found by collective and iteration, in whatever order they end") {
  orrery::Random random(1);  // another test of this suite has a Random
  RunTable<int> table(2);
  std::map<CollectiveRun, std::pair<uint32_t, int>> expected;  // slot and value
  size_t most = 0;
  for (int step = 0; step < 20'000; ++step) {
    // Members run ahead for a while, and then runs end, mostly the oldest first.
    const bool fills = step / 500 % 2 == 0;
    if (fills || expected.empty()) {
      const CollectiveRun run{CollectiveId(random.below(2)), random.below(400)};
      const uint32_t slot = table.slot(run);
      const auto [known, is_new] = expected.emplace(run, std::pair(slot, step));
      REQUIRE(known->second.first == slot);
      if (is_new) {
        REQUIRE(table[slot] == 0);
        table[slot] = step;
      }
    } else {
      auto ends = expected.begin();
      if (random.below(4) == 0)
        std::advance(ends, static_cast<std::ptrdiff_t>(random.below(expected.size())));
      REQUIRE(table.slot(ends->first) == ends->second.first);
      table.erase(ends->second.first);
      expected.erase(ends);
    }
    most = std::max(most, expected.size());
    if (step % 100 != 0)
      continue;
    std::vector<CollectiveRun> in_order;
    table.for_each_slot([&](uint32_t slot) {
      in_order.push_back(table.run(slot));
      REQUIRE(table[slot] == expected.at(table.run(slot)).second);
    });
    REQUIRE(in_order.size() == expected.size());
    REQUIRE(table.only_slot().has_value() == (expected.size() == 1));
    if (table.only_slot())
      REQUIRE(table.run(*table.only_slot()) == in_order.front());
    REQUIRE(std::is_sorted(in_order.begin(), in_order.end()));
  }
  CHECK(most > 200);
}

TEST_CASE("run table: runs that are moved are found in their later iterations") {
  RunTable<int> table(1);
  std::vector<uint32_t> slots;
  for (uint64_t iteration = 0; iteration < 3; ++iteration)
    slots.push_back(table.slot({CollectiveId(0), iteration}));
  for (const uint32_t slot : slots)
    table.move(slot, 1000);
  CHECK(table.slot({CollectiveId(0), 1001}) == slots[1]);
  CHECK(table.run(slots[2]).iteration == 1002);
}

}  // namespace
}  // namespace orrery
