#pragma once

// Which node held a collective up. Every half carries the node whose entry began the chain of
// last-met causes that led to it. The last-met cause is the latest; among equal times it is the
// first that for_each_cause names. So the answer does not depend on the order of a walk.

#include "models/base/inline.h"
#include "models/base/quantity.h"
#include "simulator/schedule/causes.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// When something happened, and the node whose entry led to it.
template <class When>
struct HappenedAt {
  When at;
  Node origin;
};
using Happened = HappenedAt<Instant>;

/// The last met of several causes, at least one.
template <class When = Instant>
class LastMet {
 public:
  ORRERY_ALWAYS_INLINE void add(HappenedAt<When> cause) {
    const bool later = !any_ || cause.at > last_.at;
    last_.at = later ? cause.at : last_.at;
    last_.origin = later ? cause.origin : last_.origin;
    any_ = true;
  }
  bool any() const { return any_; }
  const HappenedAt<When>& get() const { return last_; }

 private:
  HappenedAt<When> last_;
  bool any_ = false;
};

/// What the sweep stores of a step.
struct StepTimes {
  Instant received;  // its receive half has retired
  Instant sent;      // its send half has retired
  Instant arrived;   // its message is at the receiver
  Node received_origin;
  Node sent_origin;

  /// When the cause, which names this step, was met. Not for Enter.
  ORRERY_ALWAYS_INLINE Happened of(const Cause& cause) const {
    if (cause.kind == CauseKind::Message)
      return {arrived, sent_origin};
    return cause.half == Half::Receive ? Happened{received, received_origin}
                                       : Happened{sent, sent_origin};
  }
};

}  // namespace orrery
