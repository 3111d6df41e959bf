#pragma once

// Progress follows each channel of one schedule and knows which channel waits for which. It asks
// for_each_cause whether a half may run, and parks a channel on its first unmet cause. So the time
// of a walk grows with the halves, and its memory with the channels.

#include <cstdint>
#include <optional>
#include <vector>

#include "simulator/schedule/causes.h"
#include "simulator/schedule/schedule.h"
#include "simulator/schedule/step_table.h"

namespace orrery {

class SlicedSchedule;

/// Arrival says when a message counts as arrived: when its send half retires (walks without time),
/// or when arrive() says so (walks with time).
enum class Arrival : uint8_t { WithSend, Told };

/// A HalfRef names a half of a step.
struct HalfRef {
  StepRef step;
  Half half = Half::Receive;
};

/// Parked is a channel that cannot continue, with its next half and its first unmet cause.
struct Parked {
  HalfRef half;
  Cause cause;
};

/// Each half whose causes are all met is appended to `ready`, exactly once. The caller runs it and
/// then calls retire.
class Progress {
 public:
  explicit Progress(const Schedule& schedule, Arrival arrival = Arrival::WithSend);

  /// Returns whether the node has entered; a switch node always has.
  bool entered(Node node) const { return entered_[node.index()]; }
  /// Returns whether the causes of the node's end (for_each_cause_of_end) are all met.
  bool ended(Node node) const { return entered(node) && unfinished_[node.index()] == 0; }

  void enter(Node node, std::vector<HalfRef>& ready);

  /// Lets others send to the node before it has entered: their messages are kept for it.
  void let_send_to(Node node, std::vector<HalfRef>& ready);

  /// Records that the message for this receiving step has arrived. Requires Arrival::Told.
  void arrive(StepRef receiver, std::vector<HalfRef>& ready);

  /// Records that a half has run. `step` is the half's step, which its runner has at hand.
  void retire(HalfRef half, const Step& step, std::vector<HalfRef>& ready);
  /// Records that a send half has run. Its Step need not be known.
  void retire_send(StepRef ref, std::vector<HalfRef>& ready);

  /// Returns the step, valid until the next call of this Progress that is not const. It is
  /// remembered, since a half is mostly examined right before it begins, and the halves of a step
  /// often begin one after the other.
  const Step& step(StepRef ref) {
    if (last_ref_ != ref) {
      last_step_ = schedule_.step(ref);
      last_ref_ = ref;
    }
    return last_step_;
  }

  /// Returns the step that a channel is at. Channels are numbered by node, then channel.
  StepRef at_work(uint32_t channel) const { return next_half(channel).step; }

  bool retired(StepRef step, Half half) const {
    const Cursor& cursor = cursors_[cursor_of(step.node, step.channel)];
    return cursor.index > step.index ||
           (cursor.index == step.index && half == Half::Receive && cursor.received);
  }

  /// Appends how far each channel is, which nodes have entered, and which messages wait to be
  /// taken. Which channels are parked, and how many have steps left, follows from this.
  void append_state(std::vector<uint64_t>& words) const;

  /// Appends the state of a cut schedule, counted from an iteration. Two states are equal if the
  /// same follows in as many iterations of the same sizes. Requires that the schedule is `cut`.
  void append_state(const SlicedSchedule& cut, uint32_t iteration,
                    std::vector<uint64_t>& words) const;
  /// Returns the last iteration that a channel of a cut schedule is at which has not ended.
  uint32_t last_iteration(const SlicedSchedule& cut) const;
  /// Moves the step's channel there. Requires that the channel has not begun, and that its steps
  /// exchange nothing.
  void go_to(StepRef ref) { cursors_[cursor_of(ref.node, ref.channel)].index = ref.index; }
  /// Moves all channels of a cut schedule that have not ended to later iterations.
  void skip(const SlicedSchedule& cut, uint32_t iterations);

  /// Returns every channel of an entered node that cannot continue, in (node, channel) order.
  std::vector<Parked> parked() const;

 private:
  static constexpr uint32_t kNobody = (1U << 30U) - 1;

  /// A Cursor says how far a channel is. It is packed: some schedules have a channel per message.
  struct Cursor {
    uint32_t index = 0;
    uint32_t next_waiter : 30 = kNobody;
    bool received : 1 = false;  // the receive half of this step has retired
    bool awaits_message : 1 = false;

    Half half() const { return received ? Half::Send : Half::Receive; }
  };

  uint32_t cursor_of(Node node, Channel channel) const {
    return static_cast<uint32_t>(extent_.number_of(node, channel));
  }
  HalfRef next_half(uint32_t id) const {
    return {{extent_.node_of(id), extent_.channel_of(id), cursors_[id].index}, cursors_[id].half()};
  }

  bool met(const HalfRef& half, const Cause& cause) const {
    if (cause.kind == CauseKind::Enter)
      return entered(cause.step.node) ||
             (cause.step.node != half.step.node && !keeps_for_.empty() &&
              keeps_for_[cause.step.node.index()]);
    if (told_ && cause.kind == CauseKind::Message)
      return arrived_.at(half.step);
    return retired(cause.step, cause.half);
  }
  /// Returns whether a channel that comes to this step has ended.
  bool is_over(StepRef next) const {
    return next.index >= schedule_.steps(next.node, next.channel);
  }
  std::optional<Cause> first_unmet(const HalfRef& half) const;
  void examine_first_steps(Node node, std::vector<HalfRef>& ready);
  void examine(const HalfRef& half, const Step& step, std::vector<HalfRef>& ready);
  void examine(const HalfRef& half, std::vector<HalfRef>& ready) {
    examine(half, step(half.step), ready);
  }
  void append_arrived(uint32_t id, std::vector<uint64_t>& words) const;
  void park(uint32_t id, const Cause& unmet);
  void wake(uint32_t& head, std::vector<HalfRef>& ready);

  const Schedule& schedule_;
  const Extent& extent_;
  const bool told_;
  std::vector<Cursor> cursors_;
  std::vector<uint32_t> waiters_;        // per channel: the first of those parked on it
  std::vector<uint32_t> entry_waiters_;  // per node: the first of those parked on its entry
  std::vector<bool> entered_;
  std::vector<bool> keeps_for_;       // per node: let_send_to; empty: none
  std::vector<uint32_t> unfinished_;  // per node: channels that have steps left
  // With Arrival::Told: messages that have arrived and are not yet taken.
  StepTable<uint8_t> arrived_;
  std::vector<uint32_t> arrived_at_;  // how many, per channel
  std::optional<StepRef> last_ref_;
  Step last_step_;  // that of last_ref_
};

}  // namespace orrery
