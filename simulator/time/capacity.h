#pragma once

// A CapacityCheck finds out whether the messages of a timeline exceed the capacity of any link at
// any time. If they do not, every message gets its full rate. Then a timeline in which each message
// took its shortest time is the one that sharing the links gives. The sweep checks its own timeline
// with this if demand.h alone is not enough.

#include <cstdint>
#include <span>
#include <vector>

#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "simulator/network/demand.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

class CapacityCheck {
 public:
  /// Only links whose maximum demand exceeds their capacity are checked.
  CapacityCheck(const Fabric& fabric, const Demands& demands);

  /// Returns whether there is a link to check.
  bool needed() const { return needed_; }
  bool looks_at(LinkId link) const { return earlier_[link.index()].watched; }

  /// Adds a message that takes `rate` of the link from `begin` to `end`. Times long before the
  /// latest are forgotten; a message that begins in them makes the check fail.
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

  /// Makes the check fail. Nothing more need be added then.
  void refuse() { holds_ = false; }

  /// Returns whether everything added so far fits.
  bool holds() const { return holds_; }

 private:
  /// A Stretch is a span of time in which messages take `rate` of the link.
  struct Stretch {
    Instant begin;
    Instant end;
    int64_t rate = 0;  // bytes per second
  };
  /// Latest has what each message needs, apart from the rest, so that it stays in the cache.
  struct Latest {
    Stretch last;
    int64_t capacity = 0;  // bytes per second
  };
  struct Earlier {
    std::vector<Stretch> stretches;  // before the last: ascending, disjoint
    Instant forgotten;               // times before this are forgotten
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

/// Returns whether the messages that the node sends as it enters fit the links that `capacity`
/// looks at. This is an early test: nodes with many channels often ask for too much at once.
bool first_messages_fit(const Collective& collective, Node node, Paths& paths,
                        const CapacityCheck& capacity);

}  // namespace orrery
