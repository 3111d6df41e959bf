#pragma once

// Makes stored schedules for tests: copies of other schedules, to be changed, and schedules from
// the steps alone.

#include <map>
#include <tuple>
#include <vector>

#include "models/base/check.h"
#include "simulator/schedule/stored_schedule.h"

namespace orrery::test {

inline StoredSteps stored_steps(const Schedule& schedule) {
  const Extent& extent = schedule.extent();
  StoredSteps result(extent.nodes, std::vector<std::vector<Step>>(extent.channels));
  for (uint32_t n = 0; n < extent.nodes; ++n)
    for (uint32_t c = 0; c < extent.channels; ++c)
      for (uint32_t i = 0; i < schedule.steps(Node(n), Channel(c)); ++i)
        result[n][c].push_back(schedule.step({Node(n), Channel(c), i}));
  return result;
}

/// Calls visit(StepRef, const Step&) for every step, by node, channel and index.
template <class Visit>
void for_each_stored(const StoredSteps& steps, Visit&& visit) {
  for (size_t n = 0; n < steps.size(); ++n)
    for (size_t c = 0; c < steps[n].size(); ++c)
      for (uint32_t i = 0; i < steps[n][c].size(); ++i)
        visit(StepRef{Node(n), Channel(c), i}, steps[n][c][i]);
}

inline std::vector<StoredSchedule::Message> stored_messages(const Schedule& schedule) {
  std::vector<StoredSchedule::Message> result;
  for_each_stored(stored_steps(schedule), [&](StepRef ref, const Step& step) {
    if (step.to)
      result.push_back({ref, schedule.peer(ref, Half::Send)});
  });
  return result;
}

/// Pairs the sends of channel c with the receives of channel c of the peer, each in order. Requires
/// that none is left over.
inline std::vector<StoredSchedule::Message> match_by_channel(const StoredSteps& steps) {
  struct Line {  // the messages of one node to another on one channel
    std::vector<StepRef> sends;
    std::vector<StepRef> receives;
  };
  std::map<std::tuple<Node, Node, Channel>, Line> lines;
  for_each_stored(steps, [&](StepRef ref, const Step& step) {
    if (step.to)
      lines[{ref.node, *step.to, ref.channel}].sends.push_back(ref);
    if (step.from)
      lines[{*step.from, ref.node, ref.channel}].receives.push_back(ref);
  });
  std::vector<StoredSchedule::Message> messages;
  for (const auto& [ends, line] : lines) {
    ORRERY_CHECK(line.sends.size() == line.receives.size(), "every message has two ends");
    for (size_t m = 0; m < line.sends.size(); ++m)
      messages.push_back({line.sends[m], line.receives[m]});
  }
  return messages;
}

}  // namespace orrery::test
