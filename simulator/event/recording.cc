#include "simulator/event/recording.h"

#include "models/base/check.h"

namespace orrery {

Recording::Recording(const Lowered& lowered, std::span<const CollectiveId> wanted)
    : tables_(lowered.collectives.size()) {
  for (const CollectiveId id : wanted) {
    const Schedule& schedule = *lowered.collective(id).schedule;
    const Extent& extent = schedule.extent();
    Table table;
    table.channels = extent.channels;
    size_t steps = 0;
    for (uint32_t n = 0; n < extent.nodes; ++n) {
      for (uint32_t c = 0; c < extent.channels; ++c) {
        table.first.push_back(steps);
        steps += schedule.steps(Node(n), Channel(c));
      }
    }
    table.steps.resize(steps);
    tables_[id.index()] = std::move(table);
  }
}

void Recording::add(std::span<const HalfEvent> events) {
  for (const HalfEvent& event : events) {
    std::optional<Table>& table = tables_[event.collective.index()];
    if (!table)
      continue;
    StepRecord& step = table->steps[table->index_of(event.step)];
    if (event.half == Half::Receive) {
      step.receive_begin = event.begin;
      step.received = event.end;
    } else {
      step.send_begin = event.begin;
      step.sent = event.end;
      step.arrived = event.arrival;
    }
  }
}

const StepRecord& Recording::at(CollectiveId collective, StepRef step) const {
  const std::optional<Table>& table = tables_[collective.index()];
  ORRERY_CHECK(table.has_value(), "only wanted collectives are asked for");
  return table->steps[table->index_of(step)];
}

}  // namespace orrery
