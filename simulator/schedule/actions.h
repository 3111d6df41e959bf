#pragma once

// This file alone says which actions a half of a step has. The host executor, the provenance, the
// race check, the digests, the freeing of slots and the duration of a half all use for_each_action.
// The header is freestanding, like arith.h, so that a GPU kernel can compile the same text.

#include <stdint.h>

#include "models/array/host_device.h"

namespace orrery {

/// A step has two halves, in this order. A half that does nothing retires as it begins. The
/// underlying type is as wide as neighbouring members, so that structures have no padding and are
/// copied whole.
enum class Half : uint32_t { Receive, Send };

/// A StepForm says which parts a step has. The actions of its halves depend on nothing else.
struct StepForm {
  bool from = false;    // takes a message
  bool to = false;      // sends one
  bool source = false;  // names elements to read
  bool target = false;  // names elements to write
  bool combine = false;
};

/// The payload is the data that a step works on. `slice` is the source or the target of the step.
enum class ActionKind : uint8_t {
  Take,     // payload = the message
  Read,     // payload = slice
  Combine,  // payload = payload (op) slice
  Store,    // slice = payload
  Hold,     // keep the payload for the send half
  Recall,   // payload = what the receive half kept
  Emit,     // the payload becomes a message
  Free,     // the slot of the received message becomes free
};

/// An Operand says which slice of the step an action names.
enum class Operand : uint8_t { None, Source, Target };

struct Action {
  ActionKind kind = ActionKind::Take;
  Operand slice = Operand::None;
  friend constexpr bool operator==(const Action& a, const Action& b) {
    return a.kind == b.kind && a.slice == b.slice;
  }
};

/// Returns whether only the step itself holds the payload between its halves: the payload was
/// received or combined, will be sent, and is not stored.
ORRERY_HOST_DEVICE constexpr bool holds_payload(StepForm step) {
  return step.to && !step.target && (step.from || step.combine);
}

/// Returns the half that frees the slot of the message that the step receives.
ORRERY_HOST_DEVICE constexpr Half frees_slot_in(StepForm step) {
  return holds_payload(step) ? Half::Send : Half::Receive;
}

/// Calls `visit(Action)` for each action of the half, in order. A half has at most four.
///
/// The receive half takes the message or reads a slice, combines it with the source if the step
/// combines, and stores or holds the result. The send half sends the held payload. If none was
/// held, it sends what the step stored, as it is when the send half begins, or else the source.
/// (MSCCL's s, r, rcs, rrc, rrs, rrcs, re, cpy and nop are all of this form.)
template <class Visit>
ORRERY_HOST_DEVICE constexpr void for_each_action(StepForm step, Half half, Visit&& visit) {
  if (half == Half::Receive) {
    if (step.from)
      visit(Action{ActionKind::Take, Operand::None});
    if (step.combine) {
      if (!step.from)
        visit(Action{ActionKind::Read, Operand::Target});
      visit(Action{ActionKind::Combine, Operand::Source});
    } else if (!step.from && step.target) {
      visit(Action{ActionKind::Read, Operand::Source});
    }
    if (step.target)
      visit(Action{ActionKind::Store, Operand::Target});
    if (holds_payload(step))
      visit(Action{ActionKind::Hold, Operand::None});
  } else if (step.to) {
    if (holds_payload(step))
      visit(Action{ActionKind::Recall, Operand::None});
    else
      visit(Action{ActionKind::Read, step.target ? Operand::Target : Operand::Source});
    visit(Action{ActionKind::Emit, Operand::None});
  }
  if (step.from && half == frees_slot_in(step))
    visit(Action{ActionKind::Free, Operand::None});
}

/// Actions holds the actions of a half as a list.
struct Actions {
  Action list[4];
  uint32_t count = 0;

  constexpr const Action* begin() const { return list; }
  constexpr const Action* end() const { return list + count; }
};

ORRERY_HOST_DEVICE constexpr Actions actions(StepForm step, Half half) {
  Actions result;
  for_each_action(step, half, [&](Action action) { result.list[result.count++] = action; });
  return result;
}

/// Returns whether the half touches data. If not, it takes no time and moves no bytes.
ORRERY_HOST_DEVICE constexpr bool moves_data(StepForm step, Half half) {
  return half == Half::Send ? step.to : step.from || step.combine || step.target;
}

/// TimedActions says which actions of a half take time. Each covers all elements of the payload.
struct TimedActions {
  bool combines = false;  // a reduction
  bool holds = false;     // the reduction is kept for the send half, and not stored
  bool copies = false;    // inside the device's memory
  bool stores = false;    // what was received, by a step that does not send it on
  bool forwards = false;  // stores what was received, by a step that sends it on
  bool sends = false;
};

ORRERY_HOST_DEVICE constexpr TimedActions timed_actions(StepForm step, Half half) {
  TimedActions work;
  bool read = false;
  bool took = false;
  for_each_action(step, half, [&](Action action) {
    work.combines |= action.kind == ActionKind::Combine;
    work.holds |= action.kind == ActionKind::Hold && work.combines;
    work.copies |= action.kind == ActionKind::Store && read;
    work.stores |= action.kind == ActionKind::Store && took;
    work.sends |= action.kind == ActionKind::Emit;
    read |= action.kind == ActionKind::Read;
    took |= action.kind == ActionKind::Take;
  });
  // A reduction already writes its result.
  work.copies = work.copies && !work.combines;
  work.stores = work.stores && !work.combines;
  work.forwards = work.stores && step.to;
  work.stores = work.stores && !step.to;
  return work;
}

}  // namespace orrery
