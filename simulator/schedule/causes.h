#pragma once

// This file alone says when a half may run. The sweep, the event engine, the host and provenance
// executors and the deadlock check use for_each_cause and nothing else.

#include <cstdint>

#include "models/base/compiler.h"
#include "models/base/quantity.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

enum class CauseKind : uint8_t {
  Enter,    // the rank has entered the collective (only `step.node` counts)
  Order,    // the half before it in its channel
  After,    // a named step of another channel
  Message,  // the message of the matching send has arrived
  Credit,   // the slot that the message needs is free
};

/// A Cause is something that must have happened. Enter: node step.node has entered. Message: the
/// message of send half (step, Send) has arrived. All other kinds: half (step, half) has retired.
struct Cause {
  CauseKind kind = CauseKind::Order;
  StepRef step;
  Half half = Half::Send;
};

/// Returns the rule of a schedule for its fused steps. Rings state it as a constant of their class,
/// so that it costs nothing in the loops over their steps.
template <class S>
constexpr FusedStep fused_step(const Extent& extent) {
  if constexpr (requires { S::kFused; })
    return S::kFused;
  else
    return extent.fused;
}

/// Returns the half that waits until the step may send.
template <class S>
ORRERY_ALWAYS_INLINE inline Half waits_to_send(const Extent& extent, const Step& step) {
  return fused_step<S>(extent) == FusedStep::Atomic && step.from ? Half::Receive : Half::Send;
}

/// Calls `visit(cause)` for each cause of sending a message, until it returns false: the receiver's
/// entry in a rendezvous, unless the receiver is a switch node, and then a free slot. Returns
/// whether all were visited. Requires that the step sends.
template <class S, class Visit>
ORRERY_ALWAYS_INLINE inline bool for_each_cause_of_sending(const S& schedule, const Extent& extent,
                                                           StepRef ref, const Step& step,
                                                           Visit&& visit) {
  if (extent.entry == Entry::Rendezvous && extent.is_rank(*step.to) &&
      !visit(Cause{CauseKind::Enter, {*step.to, {}, 0}, Half::Receive}))
    return false;
  if (extent.one_message_a_connection)
    return true;
  const std::optional<StepRef> slot = schedule.takes_slot_of(ref);
  if (!slot)
    return true;
  return visit(Cause{CauseKind::Credit, *slot, frees_slot_in(schedule.step(*slot).form())});
}

/// Calls `visit(cause)` for each cause of the half, until it returns false. `step` is
/// schedule.step(ref). Returns whether all were visited. The first step of a channel of a switch
/// node waits for no entry, but it must wait for a message or for another channel.
template <class S, class Visit>
ORRERY_ALWAYS_INLINE inline bool for_each_cause(const S& schedule, const Extent& extent,
                                                StepRef ref, Half half, const Step& step,
                                                Visit&& visit) {
  if (half == Half::Receive) {
    if (ref.index == 0) {
      if (extent.is_rank(ref.node) && !visit(Cause{CauseKind::Enter, ref, Half::Receive}))
        return false;
    } else if (!visit(
                   Cause{CauseKind::Order, {ref.node, ref.channel, ref.index - 1}, Half::Send})) {
      return false;
    }
    if (step.after && !visit(Cause{CauseKind::After, *step.after, Half::Send}))
      return false;
    if (step.from &&
        !visit(Cause{CauseKind::Message, schedule.peer(ref, Half::Receive), Half::Send}))
      return false;
  } else if (!visit(Cause{CauseKind::Order, ref, Half::Receive})) {
    return false;
  }
  return !step.to || waits_to_send<S>(extent, step) != half ||
         for_each_cause_of_sending(schedule, extent, ref, step, visit);
}

/// StepDone says when the halves of a step and its message were done.
template <class When>
struct StepDone {
  When received;  // its receive half has retired
  When sent;      // its send half has retired
  When arrived;   // its message is at the receiver
};
using StepInstants = StepDone<Instant>;

/// Returns when a cause other than Enter was met. `step` is for the step that the cause names.
template <class Step>
ORRERY_ALWAYS_INLINE inline auto& met_at(Step& step, const Cause& cause) {
  if (cause.kind == CauseKind::Message)
    return step.arrived;
  return cause.half == Half::Receive ? step.received : step.sent;
}

/// Calls `visit(cause)` for each cause of the node's end: the last half of each of its channels. A
/// rank without steps ends when it enters.
template <class S, class Visit>
inline void for_each_cause_of_end(const S& schedule, const Extent& extent, Node node,
                                  Visit&& visit) {
  for (uint32_t c = 0; c < extent.channels; ++c)
    if (const uint32_t steps = schedule.steps(node, Channel(c)); steps > 0)
      visit(Cause{CauseKind::Order, {node, Channel(c), steps - 1}, Half::Send});
}

}  // namespace orrery
