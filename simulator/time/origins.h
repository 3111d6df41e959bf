#pragma once

// This file finds the node that held a collective up. Every half carries the node whose entry began
// the chain of last-met causes that led to it. The last-met cause is the latest; among equal times
// it is the first that for_each_cause names. So the answer does not depend on the order of a walk.

#include <cstdint>
#include <optional>
#include <vector>

#include "models/base/compiler.h"
#include "models/base/quantity.h"
#include "simulator/schedule/causes.h"
#include "simulator/schedule/digest.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// HappenedAt says when something happened, and its origin: in a collective, the node whose entry
/// led to it.
template <class When, class Origin = Node>
struct HappenedAt {
  When at;
  Origin origin;
};
using Happened = HappenedAt<Instant>;

/// CollectiveTimes says when a collective ended, and what it did.
struct CollectiveTimes {
  uint64_t messages = 0;
  Digest digest;  // of collective 0
  /// Per rank: when the rank ended and whose entry held it up.
  std::vector<Happened> exits;
};

/// LastMet finds the last met of several causes. They are added in the order in which
/// for_each_cause names them.
template <class When = Instant, class Origin = Node>
class LastMet {
 public:
  ORRERY_ALWAYS_INLINE void add(HappenedAt<When, Origin> cause) {
    const bool later = !any_ || cause.at > last_.at;
    last_.at = later ? cause.at : last_.at;
    last_.origin = later ? cause.origin : last_.origin;
    any_ = true;
  }
  bool any() const { return any_; }
  /// Returns the last met cause. Requires any().
  const HappenedAt<When, Origin>& get() const { return last_; }
  std::optional<Origin> origin() const { return any_ ? std::optional(last_.origin) : std::nullopt; }

 private:
  HappenedAt<When, Origin> last_;
  bool any_ = false;
};

/// StepHappened says when the halves of a step were done, and their origins.
template <class When>
struct StepHappened : StepDone<When> {
  Node received_origin;
  Node sent_origin;

  /// Returns when a cause that names this step was met, and its origin. It must not be an Enter.
  ORRERY_ALWAYS_INLINE HappenedAt<When> of(const Cause& cause) const {
    if (cause.half == Half::Receive)
      return {met_at(*this, cause), received_origin};
    return {met_at(*this, cause), sent_origin};
  }
};
using StepTimes = StepHappened<Instant>;

}  // namespace orrery
