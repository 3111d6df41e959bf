#pragma once

// Walks a schedule without time: every half once, after its causes. All orders that respect the
// causes end alike, since no cause is a wildcard. This order takes a message right after it is
// sent, while it is in the cache.

#include <vector>

#include "simulator/schedule/progress.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// Calls visitor.receive(StepRef, const Step&) and visitor.send(StepRef, const Step&) for every
/// half that can run when all nodes enter at once. Returns the channels that could not continue:
/// none for a schedule that ends.
template <class S, class Visitor>
std::vector<Parked> walk(const S& schedule, Visitor& visitor) {
  Progress<S, Arrival::WithSend> progress(schedule);
  std::vector<HalfRef> ready;
  const auto push = [&](HalfRef half) { ready.push_back(half); };
  for (uint32_t n = 0; n < schedule.extent().nodes; ++n)
    progress.enter(Node(n), push);
  while (!ready.empty()) {
    const HalfRef half = ready.back();
    ready.pop_back();
    const Step step = schedule.step(half.step);
    if (half.half == Half::Receive)
      visitor.receive(half.step, step);
    else
      visitor.send(half.step, step);
    progress.retire(half, push);
  }
  return progress.parked();
}

}  // namespace orrery
