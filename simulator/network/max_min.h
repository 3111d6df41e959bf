#pragma once

// How flows share links: max-min fairness in whole rate units, so that the result depends on the
// set of flows and on nothing else. Progressive filling: among the links with unfixed flows, those
// with the least residual / count are taken; all flows on all of them are fixed together, at that
// quotient rounded down, and subtracted; and so on. What rounding leaves is not used. (Bertsekas
// and Gallager, Data Networks, 6.5.2, with floors.)

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "models/base/function_ref.h"
#include "models/base/id.h"
#include "models/base/int128.h"
#include "models/base/quantity.h"
#include "models/fabric/fabric.h"

namespace orrery {

/// A speed in units of 1/27,720 byte per second: 27,720 is the least common multiple of 1 to 12, so
/// that up to 12 flows share a link without a remainder.
using Rate = Quantity<struct RateUnit>;
inline constexpr int64_t kRateUnits = 27'720;

/// Throws Overflow above 332 TB/s.
constexpr Rate rate(BytesPerSecond speed) {
  return Rate(checked_multiply(speed.count(), kRateUnits));
}

/// What is left to send, in rate units times picoseconds: rate x time is exact.
using Work = Int128;
constexpr Work work(Bytes size) {
  return Work{size.count()} * kRateUnits * kPicosecondsPerSecond;
}

using FlowId = Id<struct FlowTag>;

/// The flows of this instant on the links of a fabric, and the rate of each. Only what changes is
/// solved again: the flows joined by shared links to those added or removed. A flow that shares no
/// link costs as much as its route is long.
class MaxMin {
 public:
  explicit MaxMin(std::span<const Link> links);

  /// A flow over `route` (not empty, no link twice), which takes at most `cap`: as if it had one
  /// more link of that capacity to itself. It has rate 0 until solve().
  FlowId add(std::span<const LinkId> route, std::optional<Rate> cap);

  /// The id may be given out again.
  void remove(FlowId id);

  /// Every flow counts as changed at the next solve().
  void touch_all();

  void for_each_flow(FunctionRef<void(FlowId)> visit) const;

  Rate rate_of(FlowId flow) const { return Rate(flows_[flow.index()].rate); }

  /// Brings the rates up to date with the flows added and removed; `changed` gets each flow whose
  /// rate is a new one. Throws Overflow where a share is less than one unit.
  void solve(FunctionRef<void(FlowId)> changed);

 private:
  struct Place {
    uint32_t flow;
    uint32_t hop;  // which link of the flow's route this is
  };
  struct Hop {
    uint32_t link;
    uint32_t place;  // where in the link's list of flows
  };
  struct Shared {
    int64_t capacity = 0;
    boost::container::small_vector<Place, 2> flows;
    uint64_t visited = 0;  // the solve that saw it last
    int64_t residual = 0;  // during a solve: capacity not yet given out
    int64_t unfixed = 0;   // during a solve: flows without a rate
  };
  struct Flow {
    boost::container::small_vector<Hop, 2> hops;  // of its route; empty: not in use
    std::optional<Rate> cap;
    int64_t rate = 0;
    uint64_t visited = 0;
    bool fixed = false;  // during a solve
  };

  bool alone(const Flow& flow) const;
  int64_t least_capacity(const Flow& flow) const;
  void visit(uint32_t id);
  void gather(uint32_t first);
  void fill(FunctionRef<void(FlowId)> changed);
  void fix(uint32_t id, int64_t share, FunctionRef<void(FlowId)> changed);
  void set_rate(uint32_t id, int64_t share, FunctionRef<void(FlowId)> changed);

  std::vector<Shared> links_;
  std::vector<Flow> flows_;
  std::vector<uint32_t> free_;
  std::vector<uint32_t> added_;  // flows added since the last solve
  std::vector<uint32_t> left_;   // links left by a flow since the last solve
  uint64_t solves_ = 0;
  std::vector<uint32_t> component_flows_;
  std::vector<uint32_t> component_links_;
  std::vector<uint32_t> component_caps_;  // its flows that declare a cap
  std::vector<uint32_t> attaining_;
};

}  // namespace orrery
