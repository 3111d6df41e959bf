#pragma once

// walk() runs a schedule without time: every half once, after its causes. All orders that respect
// the causes end alike, since no cause is a wildcard. This order takes a message right after it is
// sent, while it is in the cache.

#include <cstddef>
#include <map>
#include <vector>

#include "simulator/schedule/progress.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// Calls visitor.receive(StepRef, const Step&) and visitor.send(StepRef, const Step&) for every
/// half that can run when all ranks enter at once, as long as goes_on(). Returns the channels that
/// could not continue: none for a schedule that ends.
template <class Visitor, class GoesOn>
std::vector<Parked> walk(const Schedule& schedule, Visitor& visitor, GoesOn&& goes_on) {
  Progress progress(schedule);
  std::vector<HalfRef> ready;
  for (uint32_t n = 0; n < schedule.extent().ranks(); ++n)
    progress.enter(Node(n), ready);
  while (!ready.empty() && goes_on()) {
    const HalfRef half = ready.back();
    ready.pop_back();
    const Step step = schedule.step(half.step);
    if (half.half == Half::Receive)
      visitor.receive(half.step, step);
    else
      visitor.send(half.step, step);
    progress.retire(half, step, ready);
  }
  return progress.parked();
}

template <class Visitor>
std::vector<Parked> walk(const Schedule& schedule, Visitor& visitor) {
  return walk(schedule, visitor, [] { return true; });
}

/// An OrderedHalf is one half of a schedule that is walked again in the same order.
struct OrderedHalf {
  StepRef ref;
  Half half = Half::Receive;
  Step step;
};

/// Returns all halves in the order of walk(); none if it does not end or has more than `most`.
std::vector<OrderedHalf> order_of(const Schedule& schedule, size_t most);

/// Orders remembers the orders of schedules, so that several walkers of a schedule find its order
/// once. The schedules must outlive it.
class Orders {
 public:
  /// Returns order_of() the schedule; null if it does not end or is too large to be remembered.
  const std::vector<OrderedHalf>* of(const Schedule& schedule);

 private:
  std::map<const Schedule*, std::vector<OrderedHalf>> orders_;  // only looked up
  size_t left_ = size_t{1} << 16U;                              // halves: about 10 MiB
};

/// NoVisitor is for walks that only find out where a schedule or a program stops. It is the base of
/// visitors that act on some of the events.
struct NoVisitor {
  template <class... What>
  void local(const What&...) {}
  template <class... What>
  void issue(const What&...) {}
  template <class... What>
  void done(const What&...) {}
  template <class... What>
  void enter(const What&...) {}
  template <class... What>
  void receive(const What&...) {}
  template <class... What>
  void send(const What&...) {}
  template <class... What>
  void exit(const What&...) {}
};

}  // namespace orrery
