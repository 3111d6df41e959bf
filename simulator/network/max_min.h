#pragma once

// Flows share links by max-min fairness in whole rate units, so that the result depends only on the
// set of flows. Progressive filling finds it. It takes the links with the least residual / count
// among the links with unfixed flows. It fixes all flows on all these links together, at that
// quotient rounded down, and subtracts them. It repeats this until all flows are fixed. The
// remainders of rounding stay unused. (Bertsekas and Gallager, Data Networks, 6.5.2, with floors.)

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/base/callable.h"
#include "models/base/compiler.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/fabric/fabric.h"

namespace orrery {

/// A speed in units of 1/27,720 byte per second. 27,720 is the least common multiple of 1 to 12, so
/// up to 12 flows share a link without a remainder.
using Rate = Quantity<struct RateUnit>;
inline constexpr int64_t kRateUnits = 27'720;

/// Returns the speed as a rate. Throws Overflow above 332 TB/s.
constexpr Rate rate(BytesPerSecond speed) {
  return Rate(checked_multiply(speed.count(), kRateUnits));
}

/// The amount that is left to send, in rate units times picoseconds, so that rate x time is exact.
/// If bandwidths are in parts of a byte per second, so are rates.
using Remaining = Int128;
constexpr Remaining unsent(Bytes size, int64_t parts) {
  return Remaining{size.count()} * (kRateUnits * kPicosecondsPerSecond * parts);
}

using FlowId = Id<struct FlowTag>;

/// A MaxMin has the flows of this instant on the links of a fabric, and the rate of each. Flows
/// with the same route and cap always have the same rate: they are solved as one bundle.
///
/// A change is solved only as far as it has an effect: for the flows that binding links connect to
/// it, and from the first share that it can affect. A link binds while the caps of its flows
/// together exceed its capacity. A link that does not bind changes no rate, since its unfixed flows
/// reach their caps no later than the link its capacity. Filling goes by growing shares, so flows
/// that are fixed at a smaller share than the change's keep their rates.
class MaxMin {
 public:
  explicit MaxMin(std::span<const Link> links);

  /// Adds a flow over `route` (not empty, no link twice) with at most rate `cap`, as if it had one
  /// more link of that capacity to itself. The flow has its rate after the next solve(). It stands
  /// for `alike` flows, each of which has that rate.
  FlowId add(std::span<const LinkId> route, std::optional<Rate> cap, uint32_t alike = 1);

  /// Removes the flow. Its id may be reused.
  void remove(FlowId id);

  /// Makes every flow count as changed at the next solve().
  void touch_all();

  void for_each_flow(FunctionRef<void(FlowId)> visit) const;

  /// Returns the rate of the flow, or 0 for a flow that was removed.
  Rate rate_of(FlowId flow) const {
    const uint32_t bundle = flows_[flow.index()].bundle;
    return bundle == kNone ? Rate() : Rate(bundles_[bundle].rate);
  }

  /// A callback: called with each flow whose rate is new, and the rate before. For a flow that was
  /// added since the last solve, the rate before may be any.
  using Changed = FunctionRef<void(FlowId, Rate)>;

  /// Brings the rates up to date with the flows. Throws Overflow if a share is less than one unit.
  void solve(Changed changed);

 private:
  /// A Selection has ids picked from a longer list. add_if() has no branch: which ids are picked
  /// follows no pattern, so the processor would often mispredict it.
  class Selection {
   public:
    void make_room(size_t more) {
      if (ids_.size() < size_ + more)
        ids_.resize(std::max(2 * ids_.size(), size_ + more));
    }
    /// Adds the id if it is wanted. Requires room.
    void add_if(bool wanted, uint32_t id) {
      ids_[size_] = id;
      size_ += wanted ? 1 : 0;
    }
    void clear() { size_ = 0; }

    size_t size() const { return size_; }
    uint32_t operator[](size_t i) const { return ids_[i]; }
    const uint32_t* begin() const { return ids_.data(); }
    const uint32_t* end() const { return ids_.data() + size_; }

   private:
    std::vector<uint32_t> ids_;
    size_t size_ = 0;
  };

  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kElsewhere = 0;  // in open_: of links that are not open
  static constexpr int64_t kMost = INT64_MAX;

  struct Flow {
    uint32_t bundle = kNone;     // kNone: the id is free
    uint32_t next = kNone;       // the next flow of the bundle; kNone after the last
    uint32_t previous : 31 = 0;  // the flow before; of the first flow, the last
    bool told : 1 = false;       // whether its rate was reported
    uint32_t alike = 1;          // how many flows it stands for

    void follow(uint32_t flow) { previous = flow & ((1U << 31U) - 1U); }
  };
  /// A bundle without flows can be found again until a link drops it from its list. It stays until
  /// no link lists it.
  struct Bundle {
    /// Each flow's declared cap, or the smallest capacity of its links if that is less.
    int64_t cap = 0;
    int64_t rate = 0;
    uint32_t first_hop = 0;  // in hops_
    uint32_t hops = 0;
    uint32_t flows = 0;
    uint32_t first_flow = kNone;
    uint32_t next_alike = kNone;  // in the same chain of heads_
    uint32_t listed : 29 = 0;     // how many of its links have it in their list
    bool grown : 1 = false;       // by flows added since the last solve
    bool visited : 1 = false;     // during a solve
    bool fixed : 1 = false;       // during a solve

    int64_t times(int64_t share) const { return share * flows; }
  };
  struct Shared {
    int64_t capacity = 0;
    Int128 asked = 0;               // the caps of its flows together
    std::vector<uint32_t> bundles;  // the bundles that cross it, and some without flows
    int64_t in_use = 0;             // how many of these bundles have flows
    int64_t flows = 0;
    bool touched = false;  // a flow was added or removed since the last solve
    bool bound = false;    // at the last solve
    bool entered = false;  // during a solve
    bool joined = false;   // during a solve: its flows that may change are part of the component
    uint32_t open_index = kElsewhere;  // during a solve: its index in open_, while it limits flows

    bool binds() const { return asked > capacity; }
  };

  std::span<const uint32_t> hops(const Bundle& bundle) const {
    return {hops_.data() + bundle.first_hop, bundle.hops};
  }
  size_t chain_of(std::span<const uint32_t> hops, int64_t cap) const;
  uint32_t bundle_of(std::span<const uint32_t> hops, int64_t cap);
  uint32_t make_bundle(std::span<const uint32_t> hops, int64_t cap);
  void drop_unused(Shared& link);
  void forget(uint32_t id);
  void grow_chains();
  void use(Bundle& bundle, int64_t more);

  /// A link with flows that are not fixed yet.
  struct Open {
    int64_t residual;  // capacity not yet given out
    int64_t unfixed;   // flows without a rate
    uint32_t link;
  };

  int64_t first_felt() const;
  int64_t first_felt(const Shared& link) const;
  /// Returns whether 0 < rate < from_, as one unsigned comparison. Requires from_ >= 1.
  bool stays(const Bundle& bundle) const {
    return static_cast<uint64_t>(bundle.rate) - 1 < static_cast<uint64_t>(from_) - 1;
  }
  /// Returns whether the bundle's rate may change and this is its first visit in this solve.
  bool visit(Bundle& bundle) const {
    const bool first = !bundle.visited & (bundle.flows > 0) & !stays(bundle);
    bundle.visited |= first;
    bundle.fixed &= !first;
    return first;
  }
  void enter(uint32_t link);
  void solve_component(Changed changed);
  std::span<const Open> opened() const { return std::span(open_).subspan(kElsewhere + 1); }
  void fill(Changed changed);
  void close_full();
  void fix(uint32_t id, int64_t share, Changed changed);
  void set_rate(uint32_t id, int64_t share, Changed changed);

  std::vector<Shared> links_;
  std::vector<Flow> flows_;
  std::vector<uint32_t> free_flows_;
  std::vector<Bundle> bundles_;
  std::vector<uint32_t> free_bundles_;
  std::vector<uint32_t> hops_;                    // links of all bundles
  std::vector<std::vector<uint32_t>> free_hops_;  // by length: where in hops_ that many are free
  std::vector<uint32_t> heads_;                   // chains of bundles, by hash of route and cap
  size_t bundles_known_ = 0;

  // These collect the changes since the last solve.
  std::vector<uint32_t> touched_;  // links
  std::vector<FlowId> added_;
  int64_t least_changed_ = kMost;  // of the rates of flows removed and the caps of flows added
  bool all_touched_ = false;

  // The members that a solve uses:
  int64_t from_ = 1;              // bundles with a smaller rate keep it
  Selection visited_;             // bundles, of all components so far
  size_t component_ = 0;          // where those of this component begin
  Selection entered_;             // links, of all components so far
  std::vector<Open> open_;        // of this component, after kElsewhere
  Selection attaining_;           // links
  Selection fixing_;              // bundles
  std::vector<uint32_t> by_cap_;  // bundles of this component
  std::vector<uint32_t> route_;   // the ids of a route, while it is looked up
};

}  // namespace orrery
