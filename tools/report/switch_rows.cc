#include "tools/report/switch_rows.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace orrery {

SwitchRows::SwitchRows(const Lowered& lowered, const ListRuns& runs,
                       std::span<const CollectiveId> collectives, uint32_t first_number)
    : next_(first_number) {
  std::vector<CollectiveId> by_begin;
  for (const CollectiveId id : collectives) {
    const Collective& collective = lowered.collective(id);
    const Extent& extent = collective.schedule->extent();
    if (extent.switch_nodes == 0)
      continue;
    Use use{collective.vertices.back(), 0, extent.ranks(), {}, {}};
    for (uint32_t n = 0; n < extent.ranks(); ++n) {
      const OpSpan& span = runs.span(runs.lists().enter_of(id, Node(n)));
      use.begin = n == 0 ? span.entered : std::min(use.begin, span.entered);
      use.end = std::max(use.end, span.end);
    }
    uses_.emplace(id, use);
    by_begin.push_back(id);
  }
  std::sort(by_begin.begin(), by_begin.end(), [&](CollectiveId a, CollectiveId b) {
    return std::tuple(uses_.at(a).begin, a) < std::tuple(uses_.at(b).begin, b);
  });
  for (const CollectiveId id : by_begin) {
    Use& use = uses_.at(id);
    std::vector<Lane>& lanes = switches_[use.place].lanes;
    const auto free = std::find_if(lanes.begin(), lanes.end(),
                                   [&](const Lane& lane) { return lane.free <= use.begin; });
    use.lane = static_cast<size_t>(free - lanes.begin());
    if (free == lanes.end())
      lanes.emplace_back();
    Lane& lane = lanes[use.lane];
    const Schedule& schedule = *lowered.collective(id).schedule;
    const Extent& extent = schedule.extent();
    lane.nodes = std::max(lane.nodes, extent.switch_nodes);
    lane.channels = std::max(lane.channels, extent.channels);
    lane.free = use.end;
    for (uint32_t n = extent.ranks(); n < extent.nodes; ++n)
      for (uint32_t c = 0; c < extent.channels; ++c)
        if (schedule.steps(Node(n), Channel(c)) > 0)
          lane.used.emplace(n - extent.ranks(), c);
  }
  for (auto& [place, one] : switches_) {
    one.process = next_++;
    for (Lane& lane : one.lanes) {
      lane.first_thread = next_;
      next_ += lane.nodes * lane.channels;
    }
  }
}

Row SwitchRows::first_row(CollectiveId collective, Node node) const {
  const Use& use = uses_.at(collective);
  const Switch& one = switches_.at(use.place);
  const Lane& lane = one.lanes[use.lane];
  return {one.process, lane.first_thread + (node.index() - use.ranks) * lane.channels};
}

void SwitchRows::name(TraceFile& file, const Fabric& fabric, uint32_t sort_index) const {
  for (const auto& [place, one] : switches_) {
    file.name_process(one.process, fabric.vertex_text(place), sort_index++);
    uint32_t row = 0;
    for (size_t l = 0; l < one.lanes.size(); ++l) {
      const Lane& lane = one.lanes[l];
      for (const auto& [node, channel] : lane.used)
        file.name_thread({one.process, lane.first_thread + node * lane.channels + channel},
                         fmt::format("lane [{}] node [{}] channel [{}]", l, node, channel), row++);
    }
  }
}

}  // namespace orrery
