#include <limits>
#include <map>
#include <utility>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "simulator/values/fold_table.h"
#include "tests/support/property.h"

namespace orrery::test {

namespace {

TEST_CASE("contributions: adjacent ranks of one source become one run") {
  CHECK(sum({{Rank(0), 2, 7, 1}}, {{Rank(2), 3, 7, 1}}) == Contributions{{Rank(0), 5, 7, 1}});
}

TEST_CASE("contributions: ranks that are not adjacent stay two runs") {
  CHECK(sum({{Rank(3), 1, 0, 1}}, {{Rank(0), 2, 0, 1}}) ==
        Contributions{{Rank(0), 2, 0, 1}, {Rank(3), 1, 0, 1}});
}

TEST_CASE("contributions: where runs overlap, the times add") {
  // The sum has ranks 0 1 2 3 once, and 2 3 4 once more.
  CHECK(sum({{Rank(0), 4, 0, 1}}, {{Rank(2), 3, 0, 1}}) ==
        Contributions{{Rank(0), 2, 0, 1}, {Rank(2), 2, 0, 2}, {Rank(4), 1, 0, 1}});
}

TEST_CASE("contributions: adjacent runs of equal times are joined") {
  // The times are 0: 2, 1: 1 and 1: 1, 2: 2.
  CHECK(sum({{Rank(0), 1, 0, 2}, {Rank(1), 1, 0, 1}}, {{Rank(1), 1, 0, 1}, {Rank(2), 1, 0, 2}}) ==
        Contributions{{Rank(0), 3, 0, 2}});
}

TEST_CASE("contributions: elements of different sources stay apart") {
  CHECK(sum({{Rank(0), 2, 5, 1}}, {{Rank(0), 2, 6, 1}}) ==
        Contributions{{Rank(0), 2, 5, 1}, {Rank(0), 2, 6, 1}});
}

TEST_CASE("contributions: adding nothing changes nothing") {
  CHECK(sum({}, {}).empty());
  CHECK(sum({{Rank(1), 1, 2, 3}}, {}) == Contributions{{Rank(1), 1, 2, 3}});
}

TEST_CASE("contributions: times saturate instead of wrapping") {
  constexpr uint32_t kMost = std::numeric_limits<uint32_t>::max();
  CHECK(sum({{Rank(0), 1, 0, kMost}}, {{Rank(0), 1, 0, 2}}) ==
        Contributions{{Rank(0), 1, 0, kMost}});
}

using Counts = std::map<std::pair<int64_t, uint32_t>, uint64_t>;  // by (source, rank)

Counts counts(const Contributions& contributions) {
  Counts counts;
  for (const Contribution& c : contributions)
    for (uint32_t r = 0; r < c.ranks; ++r)
      counts[{c.source, c.rank.index() + r}] += c.times;
  return counts;
}

TEST_CASE("contributions: a sum counts every element of both") {
  holds_for_all("sum", [](uint64_t seed) {
    Random random(seed);
    Contributions total;
    Counts expected;
    for (int i = 0; i < 8; ++i) {
      const Contribution one{Rank(random.below(6)), static_cast<uint32_t>(random.between(1, 4)),
                             random.between(0, 2), static_cast<uint32_t>(random.between(1, 2))};
      for (const auto& [key, times] : counts({one}))
        expected[key] += times;
      total = sum(total, {one});
      RC_ASSERT(counts(total) == expected);
    }
  });
}

TEST_CASE("contributions: equal sums are equal lists, whatever the order") {
  holds_for_all("order", [](uint64_t seed) {
    Random random(seed);
    std::vector<Contributions> terms;
    for (int i = 0; i < 6; ++i)
      terms.push_back({{Rank(random.below(6)), static_cast<uint32_t>(random.between(1, 4)),
                        random.between(0, 1), 1}});
    Contributions forwards;
    Contributions backwards;
    for (size_t i = 0; i < terms.size(); ++i) {
      forwards = sum(forwards, terms[i]);
      backwards = sum(terms[terms.size() - 1 - i], backwards);
    }
    RC_ASSERT(forwards == backwards);
  });
}

}  // namespace

}  // namespace orrery::test
