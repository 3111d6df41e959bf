#pragma once

// The schedule of one collective over one group: the steps of each node, their order, and the
// message that each one sends or receives. It is an interface, not storage: step() may compute its
// result, so a ring over many ranks takes no memory per step. causes.h says when a step may run.

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

/// Who takes part in a collective: rank r of the group is node r. Behind the ranks there may be
/// switch nodes, each a part of what a switch does, which folds and copies on the way
/// (Extent::switch_nodes). A switch node is no device: it never enters, since it is always ready,
/// has neither operand nor result, and nobody waits for its end. It has at least one step.
using Node = Id<struct NodeTag>;
using Channel =
    Id<struct ChannelTag>;  // a node's own sequence of steps; its channels run concurrently

/// One step: the index-th of one channel of one node.
struct StepRef {
  Node node;
  Channel channel;
  uint32_t index = 0;
  friend constexpr auto operator<=>(const StepRef&, const StepRef&) = default;
};
/// "node 2 channel 0 step 5"
std::string step_text(StepRef ref);

/// A node's memory during the collective. Offsets are in work elements (models/array/work.h).
enum class Area : uint8_t { Input, Output, Scratch };
/// "input", "output", "scratch"
std::string_view name(Area area);

struct Slice {
  Area area = Area::Input;
  int64_t first = 0;
  int64_t count = 0;
  friend bool operator==(const Slice&, const Slice&) = default;
};

/// One step of a channel. actions.h says what its two halves do.
struct Step {
  /// Not constexpr. For a constexpr constructor compilers clear all bytes of a step, and steps are
  /// made in the innermost loops.
  Step() {}

  std::optional<Node> from;
  std::optional<Node> to;
  std::optional<Slice> source;
  std::optional<Slice> target;
  Combine combine = Combine::None;
  std::optional<StepRef> after;  // a step of another channel of this node that must have ended

  /// Elements of the payload; 0 for a step that moves no data.
  int64_t count() const { return source ? source->count : target ? target->count : 0; }
  StepForm form() const {
    return {from.has_value(), to.has_value(), source.has_value(), target.has_value(),
            combine != Combine::None};
  }
  /// The slice that an action names; null if the step has none.
  const Slice* slice(Operand operand) const {
    if (operand == Operand::Source)
      return source ? &*source : nullptr;
    return operand == Operand::Target && target ? &*target : nullptr;
  }
};

/// When a fused step, one that receives and sends, takes its message. NCCL, RCCL and MSCCL wait for
/// the message and for the outgoing slot before they begin (genericOp, prims_simple.h). So a node
/// that cannot send on does not free the slot of what it received.
enum class FusedStep : uint8_t {
  StoreAndForward,  // when the message is there; its send half waits for the outgoing slot
  Atomic,           // when it may also send
};

/// What an executor must know about a schedule before it starts.
struct Extent {
  uint32_t nodes = 0;         // the ranks, and behind them the switch nodes
  uint32_t switch_nodes = 0;  // how many of the nodes are no ranks
  uint32_t channels = 0;      // the maximum over the nodes
  uint32_t slots = 2;         // messages that a connection holds and its receiver has not freed yet
  /// How many steps back, from the step that a channel is at or has begun, a cause or an
  /// undelivered message may name. Executors remember this many steps and the current one.
  uint32_t window = 0;
  /// In a lockstep schedule: how many steps back from its own index a cause of a half may name; at
  /// most the window. An executor that goes row by row remembers only this many rows.
  uint32_t lookback = 0;
  /// Whether row i (step i of every channel) can run completely once rows < i have. The sweep
  /// then goes row by row without checking causes. Receive halves of a row come before its send
  /// halves.
  bool lockstep = false;
  Entry entry = Entry::Eager;
  FusedStep fused = FusedStep::StoreAndForward;
  int64_t input = 0;   // elements of each area, per rank
  int64_t output = 0;  // 0 with in_place: the output is the input area
  int64_t scratch = 0;
  int64_t switch_scratch = 0;  // of a switch node, which has no other area
  bool in_place = false;
  bool zero_output = false;  // the output area begins as zeros
  /// Whether it computes the same with the input area for the output area.
  bool works_in_place = false;
  bool copies = false;  // some step copies inside its device (TimedActions)

  uint32_t ranks() const { return nodes - switch_nodes; }
  bool is_rank(Node node) const { return node.index() < ranks(); }

  /// The area that holds what a slice names.
  Area area(Area named) const { return named == Area::Output && in_place ? Area::Input : named; }
  /// The elements of the area of a node that holds what a slice names.
  int64_t size(Node node, Area named) const {
    if (is_rank(node))
      return size(named);
    return named == Area::Scratch ? switch_scratch : 0;
  }
  /// The same of a rank.
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

/// Everything that one channel sends to one node.
struct Sent {
  Node to;
  uint64_t messages = 0;
  int64_t elements = 0;
  friend bool operator==(const Sent&, const Sent&) = default;
};

/// Abstract, so that imported, mutated and computed schedules are walked alike. Only the sweep
/// knows the classes of computed schedules (algorithm/concrete.h), which are `final` for that.
class Schedule {
 public:
  Schedule() = default;
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  virtual ~Schedule() = default;

  virtual const Extent& extent() const = 0;
  virtual uint32_t steps(Node node, Channel channel) const = 0;
  virtual Step step(StepRef ref) const = 0;

  /// The other end of the message that this half receives or sends. Requires that there is one.
  virtual StepRef peer(StepRef ref, Half half) const = 0;

  /// The receiving step whose slot this sending step's message reuses: that of the message sent
  /// `slots` before it on the same connection. (A connection is a sending channel with a receiving
  /// channel.)
  virtual std::optional<StepRef> takes_slot_of(StepRef ref) const = 0;

  /// Visits what the channel sends to each node, in ascending order of nodes. This version goes
  /// through the steps; computed schedules override it. Throws Overflow if elements exceed 64 bits.
  virtual void for_each_receiver(Node node, Channel channel,
                                 FunctionRef<void(const Sent&)> visit) const;

  /// The elements of the largest message; 0 without messages. This version goes through the steps;
  /// computed schedules override it.
  virtual int64_t largest_message() const;

  /// Whether no connection carries several messages. Where it says so, nothing need be remembered
  /// of connections, of which a schedule may have as many as steps.
  virtual bool one_message_a_connection() const { return false; }
};

/// The number of steps, over all nodes and channels.
uint64_t count_steps(const Schedule& schedule);

}  // namespace orrery
