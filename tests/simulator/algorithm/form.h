#pragma once

// Checks properties of computed schedules that walkers require but do not check. Each function
// returns the error, or an empty text.

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "models/base/random.h"
#include "simulator/schedule/causes.h"
#include "simulator/schedule/progress.h"
#include "simulator/schedule/schedule.h"
#include "simulator/schedule/stored_schedule.h"
#include "tests/simulator/schedule/stored_copy.h"

namespace orrery::test {

template <class Visit>
void for_each_step(const Schedule& schedule, Visit&& visit) {
  for (uint32_t n = 0; n < schedule.extent().nodes; ++n)
    for (uint32_t c = 0; c < schedule.extent().channels; ++c)
      for (uint32_t i = 0; i < schedule.steps(Node(n), Channel(c)); ++i)
        visit(StepRef{Node(n), Channel(c), i}, schedule.step({Node(n), Channel(c), i}));
}

/// Checks that the two ends of a message name each other and have the same length, and that slots
/// are reused as in a stored copy of the schedule.
inline std::string error_in_messages(const Schedule& schedule) {
  const StoredSchedule stored(schedule.extent(), stored_steps(schedule), stored_messages(schedule));
  std::string error;
  for_each_step(schedule, [&](StepRef ref, const Step& step) {
    const std::string place =
        fmt::format(" at ({}, {}, {})", ref.node.index(), ref.channel.index(), ref.index);
    if (step.to) {
      const StepRef peer = schedule.peer(ref, Half::Send);
      if (peer.node != *step.to || schedule.step(peer).from != ref.node ||
          schedule.peer(peer, Half::Receive) != ref)
        error = "ends" + place;
      else if (schedule.step(peer).count() != step.count())
        error = "size" + place;
      if (schedule.takes_slot_of(ref) != stored.takes_slot_of(ref))
        error = "slot" + place;
    }
  });
  return error;
}

/// Checks that a schedule which states `lockstep` can run row by row, receive halves first: each
/// cause is in an earlier row, or is a receive half of the same row.
inline std::string error_in_lockstep(const Schedule& schedule) {
  std::string error;
  if (!schedule.extent().lockstep)
    return error;
  for_each_step(schedule, [&](StepRef ref, const Step& step) {
    for (const Half half : {Half::Receive, Half::Send}) {
      for_each_cause(schedule, schedule.extent(), ref, half, step, [&](const Cause& cause) {
        const bool earlier = cause.step.index < ref.index;
        const bool same_row =
            cause.step.index == ref.index && half == Half::Send && cause.half == Half::Receive;
        if (cause.kind != CauseKind::Enter && !earlier && !same_row)
          error = fmt::format("({}, {}, {}) needs row {}", ref.node.index(), ref.channel.index(),
                              ref.index, cause.step.index);
        return true;
      });
    }
  });
  return error;
}

/// Runs ready halves in random order. Checks that causes and messages in transit name only steps
/// within the window of their channel, and that every half runs once.
inline std::string error_in_window(const Schedule& schedule, uint64_t seed) {
  struct Watch {
    Watch(const Schedule& of, uint64_t seed)
        : schedule(of), extent(of.extent()), progress(of), random(seed) {}

    void see(HalfRef half) {
      for_each_cause(schedule, extent, half.step, half.half, schedule.step(half.step),
                     [&](const Cause& cause) {
                       const uint32_t at = begun[index_of(cause.step)];
                       if (cause.kind != CauseKind::Enter && cause.step.index + extent.window < at)
                         error = fmt::format("step {} is {} behind", cause.step.index,
                                             at - cause.step.index);
                       return true;
                     });
    }
    void run() {
      std::vector<HalfRef> ready;
      for (uint32_t n = 0; n < extent.ranks(); ++n)
        progress.enter(Node(n), ready);
      while (!ready.empty()) {
        const size_t pick = random.below(ready.size());
        const HalfRef half = ready[pick];
        ready[pick] = ready.back();
        ready.pop_back();
        see(half);
        begun[index_of(half.step)] = half.step.index;
        if (half.half == Half::Send && schedule.step(half.step).to) {
          const StepRef receiver = schedule.peer(half.step, Half::Send);
          if (receiver.index > begun[index_of(receiver)] + extent.window)
            error = fmt::format("a message waits {} steps on",
                                receiver.index - begun[index_of(receiver)]);
        }
        progress.retire(half, schedule.step(half.step), ready);
        ++halves;
      }
    }
    size_t index_of(StepRef ref) const {
      return size_t{ref.node.index()} * extent.channels + ref.channel.index();
    }

    const Schedule& schedule;
    Extent extent;
    Progress progress;
    Random random;
    std::vector<uint32_t> begun = std::vector<uint32_t>(size_t{extent.nodes} * extent.channels);
    uint64_t halves = 0;
    std::string error;
  };
  Watch watch(schedule, seed);
  watch.run();
  uint64_t all = 0;
  for_each_step(schedule, [&](StepRef, const Step&) { all += 2; });
  if (watch.error.empty() && watch.halves != all)
    return fmt::format("{} halves of {} ran", watch.halves, all);
  return watch.error;
}

/// Returns the first error of the checks above.
inline std::string error_in_form(const Schedule& schedule, uint64_t seed) {
  std::string error = error_in_messages(schedule);
  if (error.empty())
    error = error_in_lockstep(schedule);
  if (error.empty())
    error = error_in_window(schedule, seed);
  return error;
}

}  // namespace orrery::test
