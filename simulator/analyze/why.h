#pragma once

// This says why an op ended when it did: the chain of stretches that took time, back to the
// beginning, and the cause of each. It also says why a value is held in memory as long as it is.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "models/scenario/scenario.h"
#include "simulator/memory/lifetimes.h"
#include "simulator/memory/profile.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/completion.h"

namespace orrery {

/// A Reason is a stretch of time on the chain.
struct Reason {
  enum class What : uint8_t {
    Compute,  // a local op
    Enter,    // from when the device could enter the collective to its entry: launch, packing
    Reduce,   // a receive half
    Send,     // a send half
    Flight,   // a message after it was sent, until it arrived
    Copy,     // inside the device: a step's own copy, or the result copied out at the end
  };
  /// The last cause of the stretch, with which the stretch began.
  enum class After : uint8_t {
    Beginning,   // of the device's list
    Computed,    // its compute stream had run `after`
    Ended,       // its compute stream had waited for `after`, a collective
    StreamFree,  // its communication stream had ended `after`
    Launch,      // the device had launched the collective
    Entry,       // the device had entered the collective
    PeerEntry,   // the receiver had entered the collective (rendezvous)
    StepBefore,  // the step before on the channel, or the step's own receive half, was over
    OtherStep,   // the named step of another channel was over
    Message,     // the message of the step had arrived
    SlotFree,    // the slot of the step's message was free
    Sent,        // Flight: the message was sent
  };
  What what = What::Compute;
  OpId op;                     // at a switch node it is the op of rank 0
  VertexId place;              // a device, or a switch
  std::optional<VertexId> to;  // Send, Flight
  Bytes bytes;                 // Reduce, Send, Flight, Copy
  Instant begin;
  Instant end;
  After because = After::Beginning;
  std::optional<OpId> after;  // Computed, Ended, StreamFree
};

/// Returns the stretches from the beginning to the end of `op` on `device`, first to last and
/// contiguous. Stretches of no time are left out, except entries. Among causes met at one instant
/// it takes the first that for_each_cause names; among the streams of a device, the compute stream.
/// Runs the timing once more, and keeps the steps of the chain's collectives in memory. Requires
/// that the device runs the op.
std::vector<Reason> why(const Program& program, const Lowered& lowered, const Fabric& fabric,
                        const Completion& completion, OpId op, LogicalId device);

/// This is an op where it ran.
struct OpOnDevice {
  OpId op;
  LogicalId device;
};

/// Does the same for several ops, with one run of the timing. It keeps the steps of all chains'
/// collectives in memory.
std::vector<std::vector<Reason>> why(const Program& program, const Lowered& lowered,
                                     const Fabric& fabric, const Completion& completion,
                                     std::span<const OpOnDevice> ends);

/// It says from where to where in a thread's list the storage of a value is held, and why, by the
/// rules of simulator/memory/lifetimes.h.
struct ValueLife {
  ThreadId thread;
  std::vector<LogicalId> devices;  // of the thread, whose list holds it; ascending
  Bytes size;                      // rounded up to the alignment
  std::optional<OpId> from;        // the op that makes it; empty: an argument
  std::optional<OpId> to;          // the op that HeldUntil names; empty: to the end of the program
  HeldUntil until = HeldUntil::LastUse;
  std::vector<ValueId> together;  // the other values of the thread in the same storage
};

/// Returns the entries of the threads whose lists hold the value. A thread has several entries if
/// some of its devices hold it longer than others. `memory` is the profile of the program.
std::vector<ValueLife> value_lives(const Program& program, const Lowered& lowered,
                                   const MemoryPolicy& policy, const MemoryProfile& memory,
                                   ValueId value);

}  // namespace orrery
