#include "simulator/network/max_min.h"

#include <algorithm>

#include "models/base/check.h"

namespace orrery {

MaxMin::MaxMin(std::span<const Link> links) : links_(links.size()) {
  for (size_t l = 0; l < links.size(); ++l)
    links_[l].capacity = orrery::rate(links[l].bandwidth).count();
}

FlowId MaxMin::add(std::span<const LinkId> route, std::optional<Rate> cap) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(flows_.size()));
    flows_.emplace_back();
  }
  const uint32_t id = free_.back();
  free_.pop_back();
  Flow& flow = flows_[id];
  flow.cap = cap;
  flow.rate = 0;
  for (uint32_t hop = 0; hop < route.size(); ++hop) {
    auto& others = links_[route[hop].index()].flows;
    flow.hops.push_back({route[hop].index(), static_cast<uint32_t>(others.size())});
    others.push_back({id, hop});
  }
  added_.push_back(id);
  return FlowId(id);
}

void MaxMin::remove(FlowId id) {
  Flow& flow = flows_[id.index()];
  for (const Hop& hop : flow.hops) {
    auto& flows = links_[hop.link].flows;
    const Place last = flows.back();
    flows[hop.place] = last;
    flows_[last.flow].hops[last.hop].place = hop.place;
    flows.pop_back();
    if (!flows.empty())
      left_.push_back(hop.link);
  }
  flow.hops.clear();
  free_.push_back(id.index());
}

void MaxMin::for_each_flow(FunctionRef<void(FlowId)> visit) const {
  for (uint32_t id = 0; id < flows_.size(); ++id)
    if (!flows_[id].hops.empty())
      visit(FlowId(id));
}

void MaxMin::touch_all() {
  for_each_flow([&](FlowId flow) { added_.push_back(flow.index()); });
}

void MaxMin::solve(FunctionRef<void(FlowId)> changed) {
  ++solves_;
  for (const uint32_t id : added_) {
    Flow& flow = flows_[id];
    if (flow.hops.empty() || flow.visited == solves_)
      continue;
    if (alone(flow)) {
      flow.visited = solves_;
      set_rate(id, least_capacity(flow), changed);
    } else {
      gather(id);
      fill(changed);
    }
  }
  for (const uint32_t link : left_) {
    if (links_[link].flows.empty() || links_[link].visited == solves_)
      continue;
    const uint32_t first = links_[link].flows.front().flow;
    if (flows_[first].visited == solves_)  // alone, and solved as such above
      continue;
    gather(first);
    fill(changed);
  }
  added_.clear();
  left_.clear();
}

bool MaxMin::alone(const Flow& flow) const {
  return std::all_of(flow.hops.begin(), flow.hops.end(),
                     [&](const Hop& hop) { return links_[hop.link].flows.size() == 1; });
}

int64_t MaxMin::least_capacity(const Flow& flow) const {
  int64_t least = links_[flow.hops.front().link].capacity;
  for (const Hop& hop : flow.hops)
    least = std::min(least, links_[hop.link].capacity);
  return flow.cap ? std::min(least, flow.cap->count()) : least;
}

void MaxMin::visit(uint32_t id) {
  Flow& flow = flows_[id];
  if (flow.visited == solves_)
    return;
  flow.visited = solves_;
  flow.fixed = false;
  component_flows_.push_back(id);
  if (flow.cap)
    component_caps_.push_back(id);
}

/// The flows and links that `first` is joined to through shared links.
void MaxMin::gather(uint32_t first) {
  component_flows_.clear();
  component_links_.clear();
  component_caps_.clear();
  visit(first);
  for (size_t next = 0; next < component_flows_.size(); ++next) {
    for (const Hop& hop : flows_[component_flows_[next]].hops) {
      Shared& link = links_[hop.link];
      if (link.visited == solves_)
        continue;
      link.visited = solves_;
      link.residual = link.capacity;
      link.unfixed = static_cast<int64_t>(link.flows.size());
      component_links_.push_back(hop.link);
      for (const Place& place : link.flows)
        visit(place.flow);
    }
  }
}

/// Progressive filling of the gathered component.
void MaxMin::fill(FunctionRef<void(FlowId)> changed) {
  while (true) {
    std::erase_if(component_links_, [&](uint32_t l) { return links_[l].unfixed == 0; });
    std::erase_if(component_caps_, [&](uint32_t f) { return flows_[f].fixed; });
    if (component_links_.empty())
      return;
    // The least residual / count so far, compared by cross-multiplying.
    int64_t residual = links_[component_links_.front()].residual;
    int64_t count = links_[component_links_.front()].unfixed;
    const auto compare = [&](int64_t other_residual, int64_t other_count) {
      return Int128{other_residual} * count - Int128{residual} * other_count;
    };
    for (const uint32_t l : component_links_) {
      if (compare(links_[l].residual, links_[l].unfixed) < 0) {
        residual = links_[l].residual;
        count = links_[l].unfixed;
      }
    }
    for (const uint32_t f : component_caps_) {
      if (compare(flows_[f].cap->count(), 1) < 0) {
        residual = flows_[f].cap->count();
        count = 1;
      }
    }
    attaining_.clear();
    for (const uint32_t l : component_links_)
      if (compare(links_[l].residual, links_[l].unfixed) == 0)
        attaining_.push_back(l);
    const int64_t share = residual / count;
    for (const uint32_t f : component_caps_)
      if (compare(flows_[f].cap->count(), 1) == 0)
        fix(f, share, changed);
    for (const uint32_t l : attaining_)
      for (const Place& place : links_[l].flows)
        fix(place.flow, share, changed);
  }
}

void MaxMin::fix(uint32_t id, int64_t share, FunctionRef<void(FlowId)> changed) {
  Flow& flow = flows_[id];
  if (flow.fixed)
    return;
  flow.fixed = true;
  for (const Hop& hop : flow.hops) {
    links_[hop.link].residual -= share;
    --links_[hop.link].unfixed;
  }
  set_rate(id, share, changed);
}

void MaxMin::set_rate(uint32_t id, int64_t share, FunctionRef<void(FlowId)> changed) {
  if (share == 0)
    throw_overflow("a flow's share of a link is less than 1/27,720 byte per second");
  if (flows_[id].rate == share)
    return;
  flows_[id].rate = share;
  changed(FlowId(id));
}

}  // namespace orrery
