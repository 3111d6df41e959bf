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
  bool looks_at(LinkId link) const { return uses_[link.index()].watched; }

  /// A message takes `rate` of the link from `begin` to `end`. Not everything is remembered: what
  /// comes long after later messages counts as too much.
  void add(LinkId link, Instant begin, Instant end, BytesPerSecond rate);

  /// Whether everything that was added fits.
  bool holds() const { return holds_; }

 private:
  /// A stretch of time in which the link gives `rate`.
  struct Stretch {
    Instant begin;
    Instant end;
    int64_t rate = 0;  // bytes per second
  };
  struct Use {
    bool watched = false;
    int64_t capacity = 0;            // bytes per second
    Instant forgotten;               // nothing is remembered of what was before
    std::vector<Stretch> stretches;  // ascending, disjoint
  };

  void add_between(Use& use, size_t at, Instant begin, Instant end, int64_t rate);
  void forget_old(Use& use) const;

  std::vector<Use> uses_;  // per link
  size_t most_remembered_ = 0;
  bool needed_ = false;
  bool holds_ = true;
};

}  // namespace orrery
