#pragma once

// An early test before a sweep: if the messages that a node sends as it enters a collective already
// exceed a link, the sweep is not tried. Nodes with many channels often do.

#include <cstdint>
#include <map>

#include "models/base/compiler.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/progress.h"
#include "simulator/time/capacity.h"

namespace orrery {

/// Whether the first step of a channel sends as soon as its node enters.
template <class S>
bool sends_as_it_enters(const S& schedule, StepRef ref, const Step& step,
                        const CollectiveFigures& figures) {
  const auto none_other = [&](const Cause& cause) {
    return cause.step == ref && cause.kind != CauseKind::Message;
  };
  return figures.messages.overhead == Duration() &&
         !take_time(timed_actions(step.form(), Half::Receive), figures.rates) &&
         for_each_cause(schedule, schedule.extent(), ref, Half::Receive, step, none_other) &&
         for_each_cause(schedule, schedule.extent(), ref, Half::Send, step, none_other);
}

/// Whether the node's first messages fit the links that `capacity` looks at.
template <class S>
bool first_messages_fit(const S& schedule, const Collective& collective, Node node, Paths& paths,
                        const CapacityCheck& capacity) {
  const Extent& extent = schedule.extent();
  const CollectiveFigures& figures = collective.figures;
  std::map<LinkId, Int128> asked;  // bytes per second
  for (uint32_t c = 0; c < extent.channels; ++c) {
    const StepRef ref{node, Channel(c), 0};
    if (schedule.steps(node, ref.channel) == 0)
      continue;
    const Step step = schedule.step(ref);
    if (step.count() == 0 || !step.to || !sends_as_it_enters(schedule, ref, step, figures))
      continue;
    const Path& path =
        paths.between(collective.vertices[node.index()], collective.vertices[step.to->index()]);
    for (const LinkId link : path.links)
      if (capacity.looks_at(link) &&
          (asked[link] += path.peak(figures.messages.channel_rate).count()) >
              paths.fabric().link(link).bandwidth.count())
        return false;
  }
  return true;
}

}  // namespace orrery
