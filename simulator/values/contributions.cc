#include "simulator/values/contributions.h"

#include <algorithm>
#include <limits>

namespace orrery {

namespace {

/// A change: from rank `rank` on, input element `source` counts `times` more.
struct Change {
  int64_t source;
  uint64_t rank;
  int64_t times;
};

void add_changes(std::vector<Change>& changes, const Contributions& contributions) {
  for (const Contribution& c : contributions) {
    changes.push_back({c.source, c.rank.index(), int64_t{c.times}});
    changes.push_back({c.source, uint64_t{c.rank.index()} + c.ranks, -int64_t{c.times}});
  }
}

uint32_t held(int64_t times) {
  return static_cast<uint32_t>(std::min<int64_t>(times, std::numeric_limits<uint32_t>::max()));
}

}  // namespace

Contributions sum(const Contributions& a, const Contributions& b) {
  std::vector<Change> changes;
  changes.reserve(2 * (a.size() + b.size()));
  add_changes(changes, a);
  add_changes(changes, b);
  std::sort(changes.begin(), changes.end(), [](const Change& x, const Change& y) {
    return x.source != y.source ? x.source < y.source : x.rank < y.rank;
  });

  // The changes of each source add up to 0, so `times` is 0 at the border between two sources.
  Contributions result;
  int64_t times = 0;
  uint64_t since = 0;
  for (size_t i = 0; i < changes.size();) {
    const Change at = changes[i];
    int64_t next = times;
    for (; i < changes.size() && changes[i].source == at.source && changes[i].rank == at.rank; ++i)
      next += changes[i].times;
    if (held(next) != held(times)) {
      if (times != 0)
        result.push_back(
            {Rank(since), static_cast<uint32_t>(at.rank - since), at.source, held(times)});
      since = at.rank;
    }
    times = next;
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace orrery
