#include "simulator/event/recording.h"

#include "models/base/check.h"

namespace orrery {

Recording::Recording(const Lowered& lowered, std::span<const CollectiveId> wanted)
    : tables_(lowered.collectives.size()) {
  for (const CollectiveId id : wanted)
    tables_[id.index()].emplace(*lowered.collective(id).schedule, StepRecord());
}

void Recording::add(std::span<const HalfEvent> events) {
  for (const HalfEvent& event : events) {
    std::optional<AllSteps<StepRecord>>& table = tables_[event.collective.index()];
    if (!table)
      continue;
    StepRecord& step = table->at(event.step);
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
  const std::optional<AllSteps<StepRecord>>& table = tables_[collective.index()];
  ORRERY_CHECK(table.has_value(), "only wanted collectives are asked for");
  return table->at(step);
}

void History::add(std::span<const HalfEvent> events) {
  for (const HalfEvent& event : events)
    halves.push_back({event.step, event.collective.index() & ((1U << 31U) - 1U),
                      event.half == Half::Send, event.end - event.begin,
                      event.arrival - event.end});
}

}  // namespace orrery
