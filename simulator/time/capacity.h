#pragma once

// Whether a timeline asks any link for more than it has at any time. Where it does not, every
// message gets all it can use, so a timeline in which each took the least time possible is the one
// that sharing gives. The sweep proves its own timeline with this, where demand.h alone cannot.

#include <cstdint>
#include <span>
#include <vector>

#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "simulator/network/demand.h"

namespace orrery {

class CapacityCheck {
 public:
  /// Only the links that may be asked for more than they have are looked at.
  CapacityCheck(const Fabric& fabric, const Demands& demands);

  /// Whether there is such a link.
  bool needed() const { return needed_; }
  bool looks_at(LinkId link) const { return earlier_[link.index()].watched; }

  /// A message takes `rate` of the link from `begin` to `end`. Not everything is remembered: what
  /// comes long after later messages counts as too much.
  void add(LinkId link, Instant begin, Instant end, BytesPerSecond rate) {
    Latest& use = latest_[link.index()];
    const Stretch added{begin, end, rate.count()};
    if (begin < use.last.end || added.rate > use.capacity)
      add_out_of_order(link, added);
    else if (begin == use.last.end && added.rate == use.last.rate)
      use.last.end = end;
    else if (begin < end)
      append(link, added);
  }

  /// What is about to be added does not fit.
  void refuse() { holds_ = false; }

  /// Whether everything that was added fits.
  bool holds() const { return holds_; }

 private:
  /// A stretch of time in which the link gives `rate`.
  struct Stretch {
    Instant begin;
    Instant end;
    int64_t rate = 0;  // bytes per second
  };
  /// What each message asks for, apart from the rest so that it stays in the cache.
  struct Latest {
    Stretch last;
    int64_t capacity = 0;  // bytes per second
  };
  struct Earlier {
    std::vector<Stretch> stretches;  // before the last: ascending, disjoint
    Instant forgotten;               // nothing is remembered of what was before
    bool watched = false;
  };

  void append(LinkId link, const Stretch& added);
  void add_out_of_order(LinkId link, const Stretch& added);
  void add_between(std::vector<Stretch>& stretches, size_t at, Stretch added, int64_t capacity);
  void forget_old(LinkId link);

  std::vector<Latest> latest_;    // per link
  std::vector<Earlier> earlier_;  // per link
  size_t most_remembered_ = 0;
  bool needed_ = false;
  bool holds_ = true;
};

}  // namespace orrery
