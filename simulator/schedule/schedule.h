#pragma once

// A Schedule is what one collective does on one group, written as steps. It is an interface, not
// storage: step() may compute its result, so a ring over many ranks takes no memory per step.
//
// Rank r of the group is node r of the schedule; switches that reduce are further nodes. Each node
// has channels, which run concurrently, and each channel runs its steps one after another. A step
// may receive a message, copy or combine slices of the node's memory, and send a message. A sending
// channel and a receiving channel form a connection with a fixed number of slots. A message needs a
// slot from when it is sent until its receiver frees the slot.
//
// Executors do not run whole steps but halves: the receive half of a step, then its send half. Each
// rule about halves is written once, and all executors use it:
// - causes.h says which halves, messages, slots and entries a half waits for;
// - actions.h says what a half does to the data, and in which half a slot is freed;
// - durations.h says how long the actions and the messages take.
// Each executor adds the halves that it runs to a Digest (digest.h). Equal digests show that all of
// them ran the same schedule.
//
// progress.h and walk.h run a schedule without time. stored_schedule.h keeps the steps in memory,
// and sliced_schedule.h cuts the messages to slots. tape.h and lowered.h describe the program
// around the collectives.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/array/combine.h"
#include "models/base/callable.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/program/op.h"
#include "simulator/schedule/actions.h"

namespace orrery {

/// A Node takes part in a collective. Rank r of the group is node r. A switch that folds and copies
/// on the way is one or several switch nodes, which are numbered after the ranks
/// (Extent::switch_nodes). A switch node is no device: it is always ready and never enters, it has
/// neither operand nor result, and nobody waits for its end. It has at least one step.
using Node = Id<struct NodeTag>;
using Channel =
    Id<struct ChannelTag>;  // a node's own sequence of steps; its channels run concurrently

/// A StepRef names one step: the index-th of one channel of one node.
struct StepRef {
  Node node;
  Channel channel;
  uint32_t index = 0;
  friend constexpr auto operator<=>(const StepRef&, const StepRef&) = default;
};
/// Returns "node 2 channel 0 step 5".
std::string step_text(StepRef ref);

/// An Area is a part of a node's memory in the collective. Offsets are in work elements
/// (models/array/work.h).
enum class Area : uint8_t { Input, Output, Scratch };
/// Returns "input", "output" or "scratch".
std::string_view name(Area area);

struct Slice {
  Area area = Area::Input;
  int64_t first = 0;
  int64_t count = 0;
  friend bool operator==(const Slice&, const Slice&) = default;
};

/// A Step is one entry of a channel. actions.h says what its two halves do.
struct Step {
  /// This constructor is not constexpr. For a constexpr one, compilers clear all bytes of a step,
  /// and steps are made in the innermost loops.
  Step() {}

  std::optional<Node> from;
  std::optional<Node> to;
  std::optional<Slice> source;
  std::optional<Slice> target;
  Combine combine = Combine::None;
  std::optional<StepRef> after;  // a step of another channel of this node that must have ended

  /// Returns the elements of the payload; 0 for a step that moves no data.
  int64_t count() const { return source ? source->count : target ? target->count : 0; }
  StepForm form() const {
    return {from.has_value(), to.has_value(), source.has_value(), target.has_value(),
            combine != Combine::None};
  }
  /// Returns the slice that an action names; null if the step has none.
  const Slice* slice(Operand operand) const {
    if (operand == Operand::Source)
      return source ? &*source : nullptr;
    return operand == Operand::Target && target ? &*target : nullptr;
  }
};

/// Says when a fused step, one that receives and sends, takes its message. NCCL, RCCL and MSCCL are
/// Atomic: they wait for the message and for the outgoing slot before they begin (genericOp,
/// prims_simple.h). So a node that cannot send does not free the slot of its message.
enum class FusedStep : uint8_t {
  StoreAndForward,  // when the message is there; its send half waits for the outgoing slot
  Atomic,           // when it may also send
};

/// An Extent holds what an executor must know about a schedule before it starts.
struct Extent {
  uint32_t nodes = 0;         // the ranks, and behind them the switch nodes
  uint32_t switch_nodes = 0;  // how many of the nodes are no ranks
  uint32_t channels = 0;      // the maximum over the nodes
  uint32_t slots = 2;         // messages that a connection holds and its receiver has not freed yet
  /// A cause or an undelivered message may name a step at most this many steps before the one that
  /// its channel is at or has begun. Executors remember that many steps and the current one.
  uint32_t window = 0;
  /// In a lockstep schedule, a cause of a half may name a step whose index is at most this much
  /// lower than the half's. The lookback is at most the window. An executor that goes row by row
  /// remembers this many rows and the current one.
  uint32_t lookback = 0;
  /// Whether row i (step i of every channel) can run once rows < i have. The sweep then goes row by
  /// row without checking causes. Receive halves of a row come before its send halves.
  bool lockstep = false;
  Entry entry = Entry::Eager;
  FusedStep fused = FusedStep::StoreAndForward;
  int64_t input = 0;   // elements of each area, per rank
  int64_t output = 0;  // 0 with in_place: the output is the input area
  int64_t scratch = 0;
  int64_t switch_scratch = 0;  // of a switch node, which has no other area
  bool in_place = false;
  bool zero_output = false;  // the output area begins as zeros
  /// Whether the schedule computes the same when its output area is the input area.
  bool works_in_place = false;
  bool copies = false;  // some step copies inside its device (TimedActions)
  /// Whether each connection carries at most one message. Then no message waits for a slot, and
  /// executors remember nothing per connection: there may be as many connections as steps.
  bool one_message_a_connection = false;

  uint32_t ranks() const { return nodes - switch_nodes; }
  bool is_rank(Node node) const { return node.index() < ranks(); }

  /// Returns the area that holds the elements of a slice in the area `named`.
  Area area(Area named) const { return named == Area::Output && in_place ? Area::Input : named; }
  /// Returns how many elements that area has on a node.
  int64_t size(Node node, Area named) const {
    if (is_rank(node))
      return size(named);
    return named == Area::Scratch ? switch_scratch : 0;
  }
  /// Returns how many elements that area has on a rank.
  int64_t size(Area named) const {
    switch (area(named)) {
      case Area::Input:
        return input;
      case Area::Output:
        return output;
      case Area::Scratch:
        break;
    }
    return scratch;
  }
  int64_t result() const { return size(Area::Output); }

  /// The channels of all nodes are numbered by node, then by channel.
  size_t all_channels() const { return size_t{nodes} * channels; }
  size_t number_of(Node node, Channel channel) const {
    return size_t{node.index()} * channels + channel.index();
  }
  Node node_of(size_t number) const { return Node(number / channels); }
  Channel channel_of(size_t number) const { return Channel(number % channels); }
};

/// A Sent counts everything that one channel sends to one node.
struct Sent {
  Node to;
  uint64_t messages = 0;
  int64_t elements = 0;
  friend bool operator==(const Sent&, const Sent&) = default;
};

/// Schedules are abstract, so that imported, mutated and computed ones are walked alike. Only the
/// sweep knows a class: that of rings.
class Schedule {
 public:
  Schedule() = default;
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  virtual ~Schedule() = default;

  virtual const Extent& extent() const = 0;
  virtual uint32_t steps(Node node, Channel channel) const = 0;
  virtual Step step(StepRef ref) const = 0;

  /// Returns the step at the other end of the message that this half receives or sends. Requires
  /// that there is a message.
  virtual StepRef peer(StepRef ref, Half half) const = 0;

  /// Returns the receiving step whose slot the message of this sending step reuses. It receives the
  /// message sent `slots` messages earlier on the same connection; if there is none, a slot is
  /// free. (A connection is a sending channel with a receiving channel.) This version is for
  /// schedules whose extent says that a connection has one message.
  virtual std::optional<StepRef> takes_slot_of(StepRef ref) const;

  /// Visits what the channel sends to each node, in ascending order of nodes. This version goes
  /// through the steps; computed schedules override it. Throws Overflow if elements exceed 64 bits.
  virtual void for_each_receiver(Node node, Channel channel,
                                 FunctionRef<void(const Sent&)> visit) const;

  /// Returns the elements of the largest message; 0 without messages. This version goes through the
  /// steps; computed schedules override it.
  virtual int64_t largest_message() const;
};

/// Returns the number of steps over all nodes and channels.
uint64_t count_steps(const Schedule& schedule);

}  // namespace orrery
