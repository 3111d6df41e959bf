#include "simulator/network/max_min.h"

#include <algorithm>
#include <limits>

#include "models/base/check.h"

namespace orrery {
namespace {

/// Returns a - b, modulo 2^64.
int64_t minus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

}  // namespace

MaxMin::MaxMin(std::span<const Link> links) : links_(links.size()), heads_(16, kNone) {
  for (size_t l = 0; l < links.size(); ++l)
    links_[l].capacity = orrery::rate(links[l].bandwidth).count();
}

FlowId MaxMin::add(std::span<const LinkId> route, std::optional<Rate> cap, uint32_t alike) {
  route_.clear();
  int64_t least = cap ? cap->count() : std::numeric_limits<int64_t>::max();
  for (const LinkId link : route) {
    route_.push_back(link.index());
    least = std::min(least, links_[link.index()].capacity);
  }
  if (free_flows_.empty()) {
    free_flows_.push_back(static_cast<uint32_t>(flows_.size()));
    flows_.emplace_back();
  }
  const uint32_t id = free_flows_.back();
  free_flows_.pop_back();
  const uint32_t bundle_id = bundle_of(route_, least);
  Bundle& bundle = bundles_[bundle_id];
  const uint32_t first = bundle.first_flow;
  const uint32_t last = first == kNone ? id : flows_[first].previous;
  flows_[id] = {};
  flows_[id].bundle = bundle_id;
  flows_[id].alike = alike;
  flows_[id].follow(last);
  if (first == kNone) {
    bundle.first_flow = id;
  } else {
    flows_[last].next = id;
    flows_[first].follow(id);
  }
  bundle.grown = true;
  use(bundle, int64_t{alike});
  least_changed_ = std::min(least_changed_, least);
  added_.emplace_back(id);
  return FlowId(id);
}

void MaxMin::remove(FlowId id) {
  Flow& flow = flows_[id.index()];
  Bundle& bundle = bundles_[flow.bundle];
  const bool first = bundle.first_flow == id.index();
  (first ? bundle.first_flow : flows_[flow.previous].next) = flow.next;
  // The first flow stores the last one of the bundle.
  const uint32_t after = flow.next != kNone ? flow.next : bundle.first_flow;
  if (after != kNone)
    flows_[after].follow(flow.previous);
  // A flow that was never solved changes nothing.
  if (bundle.rate > 0)
    least_changed_ = std::min(least_changed_, bundle.rate);
  free_flows_.push_back(id.index());
  const int64_t alike = flow.alike;
  flow = {};
  use(bundle, -alike);
}

/// Counts flows of the bundle that begin, or end if they are less than 0.
void MaxMin::use(Bundle& bundle, int64_t more) {
  const bool was_used = bundle.flows > 0;
  bundle.flows = static_cast<uint32_t>(bundle.flows + more);
  const int64_t in_use = int64_t{bundle.flows > 0} - int64_t{was_used};
  if (bundle.flows == 0)
    bundle.rate = 0;
  for (const uint32_t hop : hops(bundle)) {
    Shared& link = links_[hop];
    link.asked += Int128{more} * bundle.cap;
    link.flows += more;
    link.in_use += in_use;
    if (!link.touched) {
      link.touched = true;
      touched_.push_back(hop);
    }
  }
}

void MaxMin::for_each_flow(FunctionRef<void(FlowId)> visit) const {
  for (uint32_t id = 0; id < flows_.size(); ++id)
    if (flows_[id].bundle != kNone)
      visit(FlowId(id));
}

void MaxMin::touch_all() {
  all_touched_ = true;
}

// Bundles are found by a chained hash table.

size_t MaxMin::chain_of(std::span<const uint32_t> hops, int64_t cap) const {
  // The last link is added unhashed: bundles from one sender to neighbouring receivers are
  // neighbours in the table, so one cache line serves several.
  uint64_t hash = static_cast<uint64_t>(cap);
  for (const uint32_t hop : hops.first(hops.size() - 1)) {
    hash = (hash ^ hop) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29U;
  }
  return (hash + hops.back()) & (heads_.size() - 1);
}

uint32_t MaxMin::bundle_of(std::span<const uint32_t> route, int64_t cap) {
  for (uint32_t id = heads_[chain_of(route, cap)]; id != kNone; id = bundles_[id].next_alike) {
    const Bundle& bundle = bundles_[id];
    if (bundle.listed != bundle.hops || bundle.cap != cap || bundle.hops != route.size())
      continue;
    const uint32_t* const same = &hops_[bundle.first_hop];
    size_t equal = 0;  // most routes are too short for a call
    while (equal < route.size() && route[equal] == same[equal])
      ++equal;
    if (equal == route.size())
      return id;
  }
  return make_bundle(route, cap);
}

uint32_t MaxMin::make_bundle(std::span<const uint32_t> route, int64_t cap) {
  for (const uint32_t hop : route)
    if (std::ssize(links_[hop].bundles) >
        links_[hop].in_use + std::max<int64_t>(2, links_[hop].in_use / 8))
      drop_unused(links_[hop]);
  if (free_bundles_.empty()) {
    free_bundles_.push_back(static_cast<uint32_t>(bundles_.size()));
    bundles_.emplace_back();
  }
  const uint32_t id = free_bundles_.back();
  free_bundles_.pop_back();
  Bundle& bundle = bundles_[id];
  bundle = {};
  bundle.cap = cap;
  bundle.hops = static_cast<uint32_t>(route.size());
  bundle.listed = bundle.hops & ((1U << 29U) - 1U);
  if (free_hops_.size() <= route.size())
    free_hops_.resize(route.size() + 1);
  std::vector<uint32_t>& free = free_hops_[route.size()];
  if (free.empty()) {
    free.push_back(static_cast<uint32_t>(hops_.size()));
    hops_.resize(hops_.size() + route.size());
  }
  bundle.first_hop = free.back();
  free.pop_back();
  std::copy(route.begin(), route.end(), hops_.begin() + bundle.first_hop);
  for (const uint32_t hop : route)
    links_[hop].bundles.push_back(id);
  if (++bundles_known_ > heads_.size())
    grow_chains();
  uint32_t& head = heads_[chain_of(route, cap)];
  bundle.next_alike = head;
  head = id;
  return id;
}

void MaxMin::grow_chains() {
  const std::vector<uint32_t> before = std::move(heads_);
  heads_.assign(2 * before.size(), kNone);
  for (uint32_t id : before) {
    while (id != kNone) {
      Bundle& bundle = bundles_[id];
      const uint32_t next = bundle.next_alike;
      uint32_t& head = heads_[chain_of(hops(bundle), bundle.cap)];
      bundle.next_alike = head;
      head = id;
      id = next;
    }
  }
}

/// Removes bundles without flows from the link's list.
void MaxMin::drop_unused(Shared& link) {
  std::erase_if(link.bundles, [&](uint32_t id) {
    Bundle& bundle = bundles_[id];
    if (bundle.flows > 0)
      return false;
    if (--bundle.listed == 0) {
      forget(id);
      free_hops_[bundle.hops].push_back(bundle.first_hop);
      free_bundles_.push_back(id);
    }
    return true;
  });
}

/// Removes the bundle from its chain.
void MaxMin::forget(uint32_t id) {
  const Bundle& bundle = bundles_[id];
  uint32_t* at = &heads_[chain_of(hops(bundle), bundle.cap)];
  while (*at != id)
    at = &bundles_[*at].next_alike;
  *at = bundle.next_alike;
  --bundles_known_;
}

void MaxMin::solve(Changed changed) {
  if (touched_.empty() && !all_touched_)  // most instants
    return;
  const auto from_bundle = [&](uint32_t id) {
    visited_.make_room(1);
    visited_.add_if(visit(bundles_[id]), id);
    if (visited_.size() > component_)
      solve_component(changed);
  };
  from_ = std::max<int64_t>(first_felt(), 1);
  if (all_touched_)
    for (uint32_t id = 0; id < bundles_.size(); ++id)
      from_bundle(id);
  for (const FlowId id : added_) {
    Flow& flow = flows_[id.index()];
    if (flow.bundle == kNone)
      continue;
    from_bundle(flow.bundle);
    bundles_[flow.bundle].grown = false;
    if (!flow.told) {  // it has joined a bundle whose rate stays the same
      flow.told = true;
      changed(id, Rate());
    }
  }
  for (const uint32_t l : touched_) {
    Shared& link = links_[l];
    link.touched = false;
    if ((link.binds() || link.bound) && !link.joined)
      for (const uint32_t id : link.bundles)
        from_bundle(id);
    link.bound = link.binds();
  }
  for (const uint32_t id : visited_)
    bundles_[id].visited = false;
  for (const uint32_t l : entered_)
    links_[l].entered = links_[l].joined = false;
  visited_.clear();
  entered_.clear();
  component_ = 0;
  touched_.clear();
  added_.clear();
  all_touched_ = false;
  least_changed_ = kMost;
}

/// Returns a share, rounded down, below which filling proceeds as in the last solve. Flows that are
/// fixed below it keep their rates.
int64_t MaxMin::first_felt() const {
  if (all_touched_)
    return 0;
  // A removed flow had an effect from its own share on. A new flow has one from its cap on, or from
  // the share at which it saturates a link.
  int64_t from = least_changed_;
  for (const uint32_t l : touched_)
    if (links_[l].binds())
      from = std::min(from, first_felt(links_[l]));
  return from;
}

/// Returns a lower bound of the share at which the link saturates, if its flows are fixed elsewhere
/// as before. Flows whose rate is less than the bound so far are surely fixed before the link
/// saturates, and leave the rest of it to the others. So each round raises the bound.
int64_t MaxMin::first_felt(const Shared& link) const {
  if (link.flows == 0)
    return kMost;
  int64_t share = link.capacity / link.flows;
  while (true) {
    int64_t residual = link.capacity;
    int64_t unfixed = link.flows;
    for (const uint32_t id : link.bundles) {
      const Bundle& bundle = bundles_[id];
      const int64_t before = bundle.flows * int64_t{!bundle.grown & (bundle.rate < share)};
      residual -= bundle.rate * before;
      unfixed -= before;
    }
    if (unfixed == 0)
      return kMost;
    const int64_t next = residual / unfixed;
    if (next <= share)
      return share;
    share = next;
  }
}

void MaxMin::enter(uint32_t l) {
  Shared& link = links_[l];
  Open open{link.capacity, link.flows, l};
  Int128 asked = link.asked;
  for (const uint32_t id : link.bundles) {
    const Bundle& bundle = bundles_[id];
    const int64_t staying = bundle.flows * int64_t{stays(bundle)};
    open.residual -= bundle.rate * staying;
    open.unfixed -= staying;
    asked -= Int128{bundle.cap} * staying;
  }
  link.open_index = kElsewhere;
  if (asked <= open.residual)
    return;  // it does not limit the flows that may change
  link.joined = true;
  link.open_index = static_cast<uint32_t>(open_.size());
  open_.push_back(open);
  visited_.make_room(link.bundles.size());
  for (const uint32_t id : link.bundles)
    visited_.add_if(visit(bundles_[id]), id);
}

/// Collects the flows that binding links connect to the visited bundle, and solves them.
void MaxMin::solve_component(Changed changed) {
  open_.assign(kElsewhere + 1, {});
  for (size_t next = component_; next < visited_.size();) {
    size_t entering = entered_.size();
    for (; next < visited_.size(); ++next) {
      const Bundle& bundle = bundles_[visited_[next]];
      entered_.make_room(bundle.hops);
      for (const uint32_t hop : hops(bundle)) {
        Shared& link = links_[hop];
        const bool first = link.binds() & !link.entered;
        link.entered |= first;
        entered_.add_if(first, hop);
      }
    }
    for (; entering < entered_.size(); ++entering)
      enter(entered_[entering]);
  }
  if (opened().empty())
    for (size_t i = component_; i < visited_.size(); ++i)
      set_rate(visited_[i], bundles_[visited_[i]].cap, changed);
  else
    fill(changed);
  component_ = visited_.size();
}

/// Finds the rates of the component by progressive filling.
void MaxMin::fill(Changed changed) {
  int64_t least_cap = std::numeric_limits<int64_t>::max();  // of those not fixed, or less
  int64_t most_cap = 0;
  for (size_t i = component_; i < visited_.size(); ++i) {
    const int64_t cap = bundles_[visited_[i]].cap;
    least_cap = std::min(least_cap, cap);
    most_cap = std::max(most_cap, cap);
  }
  size_t next_cap = 0;
  by_cap_.clear();
  while (true) {
    // This is the least residual / count, compared by cross-multiplying.
    int64_t residual = 1;
    int64_t count = 0;
    for (const Open& open : opened()) {
      const bool less = Int128{open.residual} * count < Int128{residual} * open.unfixed;
      residual = less ? open.residual : residual;
      count = less ? open.unfixed : count;
    }
    if (count == 0)
      return;
    attaining_.clear();
    attaining_.make_room(open_.size());
    for (const Open& open : opened())
      attaining_.add_if(Int128{open.residual} * count == Int128{residual} * open.unfixed,
                        open.link);
    if (Int128{least_cap} * count <= residual) {
      // The caps count here, from the least on.
      if (by_cap_.empty()) {
        by_cap_.assign(visited_.begin() + component_, visited_.end());
        if (least_cap < most_cap)
          std::sort(by_cap_.begin(), by_cap_.end(),
                    [&](uint32_t a, uint32_t b) { return bundles_[a].cap < bundles_[b].cap; });
      }
      while (bundles_[by_cap_[next_cap]].fixed)
        ++next_cap;
      least_cap = bundles_[by_cap_[next_cap]].cap;
      const Int128 order = Int128{least_cap} * count - residual;
      if (order < 0)
        attaining_.clear();
      for (size_t i = next_cap; order <= 0 && i < by_cap_.size(); ++i) {
        if (bundles_[by_cap_[i]].cap != least_cap)
          break;
        if (!bundles_[by_cap_[i]].fixed)
          fix(by_cap_[i], least_cap, changed);
      }
    }
    const int64_t share = residual / count;
    for (const uint32_t l : attaining_) {
      fixing_.clear();
      fixing_.make_room(links_[l].bundles.size());
      for (const uint32_t id : links_[l].bundles) {
        const Bundle& bundle = bundles_[id];
        fixing_.add_if(bundle.visited & !bundle.fixed, id);
      }
      for (const uint32_t id : fixing_)
        fix(id, share, changed);
    }
    close_full();
  }
}

/// Removes the links whose flows are all fixed.
void MaxMin::close_full() {
  size_t open = kElsewhere + 1;
  for (const Open& each : opened()) {
    const bool stays_open = each.unfixed > 0;
    links_[each.link].open_index = stays_open ? static_cast<uint32_t>(open) : kElsewhere;
    open_[open] = each;
    open += stays_open ? 1 : 0;
  }
  open_.resize(open);
}

void MaxMin::fix(uint32_t id, int64_t share, Changed changed) {
  Bundle& bundle = bundles_[id];
  bundle.fixed = true;
  // Links that are not open have the entry kElsewhere, whose numbers mean nothing: without it there
  // would be a branch.
  for (const uint32_t hop : hops(bundle)) {
    Open& open = open_[links_[hop].open_index];
    open.residual = minus(open.residual, bundle.times(share));
    open.unfixed = minus(open.unfixed, bundle.flows);
  }
  set_rate(id, share, changed);
}

void MaxMin::set_rate(uint32_t id, int64_t share, Changed changed) {
  if (share == 0)
    throw_overflow("a flow's share of a link is less than 1/27,720 byte per second");
  Bundle& bundle = bundles_[id];
  if (bundle.rate == share)
    return;
  const Rate before(bundle.rate);
  bundle.rate = share;
  for (uint32_t flow = bundle.first_flow; flow != kNone; flow = flows_[flow].next) {
    flows_[flow].told = true;
    changed(FlowId(flow), before);
  }
}

}  // namespace orrery
