#pragma once

// The progress of each channel of one schedule, and who waits for whom. It asks for_each_cause
// whether a half may run, and parks a channel on its first unmet cause. So the time of a walk grows
// with the halves, and its memory with the channels.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/base/check.h"
#include "simulator/schedule/causes.h"
#include "simulator/schedule/relative_state.h"
#include "simulator/schedule/schedule.h"
#include "simulator/schedule/step_table.h"

namespace orrery {

/// When a message counts as arrived: when its send half retires (walks without time), or when
/// arrive() says so (walks with time).
enum class Arrival : uint8_t { WithSend, Told };

/// A half and the channel it belongs to.
struct HalfRef {
  StepRef step;
  Half half = Half::Receive;
};

/// A channel that cannot continue: its next half, and the first cause that is not met.
struct Parked {
  HalfRef half;
  Cause cause;
};

/// `Ready` callbacks get the HalfRef of each half whose causes are all met, exactly once per half.
/// The caller runs the half and then calls retire. Callbacks must not call back into the Progress.
template <class S, Arrival kArrival>
class Progress {
 public:
  explicit Progress(const S& schedule)
      : schedule_(schedule),
        extent_(schedule.extent()),
        cursors_(extent_.all_channels()),
        waiters_(cursors_.size(), kNobody),
        entry_waiters_(extent_.nodes, kNobody),
        entered_(extent_.nodes, false),
        unfinished_(extent_.nodes, 0),
        arrived_(kArrival == Arrival::Told ? extent_ : Extent{}, false) {
    ORRERY_CHECK(cursors_.size() < kNobody, "channels have numbers of 30 bits");
    for (uint32_t n = 0; n < extent_.nodes; ++n)
      for_each_cause_of_end(schedule_, extent_, Node(n), [&](const Cause&) { ++unfinished_[n]; });
    for (uint32_t n = extent_.ranks(); n < extent_.nodes; ++n) {
      ORRERY_CHECK(unfinished_[n] > 0, "a switch node has steps");
      entered_[n] = true;
      examine_first_steps(Node(n), [](HalfRef) {
        ORRERY_CHECK(false, "the first step of a channel of a switch node has a cause");
      });
    }
  }

  /// Whether the rank has entered; a switch node always has.
  bool entered(Node node) const { return entered_[node.index()]; }
  /// Whether the causes of the node's end (for_each_cause_of_end) are all met.
  bool ended(Node node) const { return entered(node) && unfinished_[node.index()] == 0; }

  template <class Ready>
  void enter(Node node, Ready&& ready) {
    ORRERY_CHECK(!entered(node), "a node enters its collective once");
    entered_[node.index()] = true;
    examine_first_steps(node, ready);
    wake(entry_waiters_[node.index()], ready);
  }

  /// Whoever sends to the node need not wait for its entry any longer: what they send is kept for
  /// it.
  template <class Ready>
  void let_send_to(Node node, Ready&& ready) {
    if (keeps_for_.empty())
      keeps_for_.resize(extent_.nodes, false);
    keeps_for_[node.index()] = true;
    wake(entry_waiters_[node.index()], ready);
  }

  /// The message for this receiving step has arrived.
  template <class Ready>
  void arrive(StepRef receiver, Ready&& ready) requires(kArrival == Arrival::Told) {
    arrived_.at(receiver) = true;
    const uint32_t id = cursor_of(receiver.node, receiver.channel);
    if (cursors_[id].awaits_message && cursors_[id].index == receiver.index) {
      cursors_[id].awaits_message = false;
      examine({receiver, Half::Receive}, ready);
    }
  }

  template <class Ready>
  void retire(HalfRef half, Ready&& ready) {
    const uint32_t id = cursor_of(half.step.node, half.step.channel);
    Cursor& cursor = cursors_[id];
    ORRERY_CHECK(cursor.index == half.step.index && cursor.half() == half.half,
                 "halves of a channel retire in order");
    if (half.half == Half::Receive) {
      if constexpr (kArrival == Arrival::Told)
        arrived_.at(half.step) = false;
      cursor.received = true;
    } else {
      cursor.received = false;
      ++cursor.index;
    }
    if (cursor.index < schedule_.steps(half.step.node, half.step.channel))
      examine({{half.step.node, half.step.channel, cursor.index}, cursor.half()}, ready);
    else
      --unfinished_[half.step.node.index()];  // its last step
    wake(waiters_[id], ready);
  }

  /// The step that a channel is at. Channels are numbered by node, then channel.
  StepRef at_work(uint32_t channel) const { return next_half(channel).step; }

  bool retired(StepRef step, Half half) const {
    const Cursor& cursor = cursors_[cursor_of(step.node, step.channel)];
    return cursor.index > step.index ||
           (cursor.index == step.index && half == Half::Receive && cursor.received);
  }

  /// How far each channel is, which nodes have entered, and which messages wait to be taken. Who is
  /// parked where, and how many channels have steps left, follows from these.
  void append_state(RelativeState& state) const {
    for (const Cursor& cursor : cursors_)
      state.add(uint64_t{cursor.index} << 1U | (cursor.received ? 1U : 0U));
    append_bits(entered_, state);
    append_bits(arrived_.entries(), state);
  }

  /// Every channel of an entered node that cannot continue, in (node, channel) order.
  std::vector<Parked> parked() const {
    std::vector<Parked> result;
    for (uint32_t n = 0; n < extent_.nodes; ++n) {
      for (uint32_t c = 0; c < extent_.channels && entered_[n]; ++c) {
        const HalfRef next = next_half(cursor_of(Node(n), Channel(c)));
        if (next.step.index >= schedule_.steps(Node(n), Channel(c)))
          continue;
        if (const std::optional<Cause> cause = first_unmet(next))
          result.push_back({next, *cause});
      }
    }
    return result;
  }

 private:
  static constexpr uint32_t kNobody = (1U << 30U) - 1;

  /// How far a channel is. Packed: some schedules have a channel for each message.
  struct Cursor {
    uint32_t index = 0;
    uint32_t next_waiter : 30 = kNobody;
    bool received : 1 = false;  // the receive half of this step has retired
    bool awaits_message : 1 = false;

    Half half() const { return received ? Half::Send : Half::Receive; }
  };

  template <class Flags>
  static void append_bits(const Flags& flags, RelativeState& state) {
    for (size_t i = 0; i < flags.size(); i += 64) {
      uint64_t word = 0;
      for (size_t bit = 0; bit < std::min<size_t>(64, flags.size() - i); ++bit)
        word |= uint64_t{flags[i + bit] ? 1U : 0U} << bit;
      state.add(word);
    }
  }

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
    if constexpr (kArrival == Arrival::Told) {
      if (cause.kind == CauseKind::Message)
        return arrived_.at(half.step);
    }
    return retired(cause.step, cause.half);
  }

  std::optional<Cause> first_unmet(const HalfRef& half) const {
    std::optional<Cause> unmet;
    for_each_cause(schedule_, extent_, half.step, half.half, schedule_.step(half.step),
                   [&](const Cause& cause) {
                     if (met(half, cause))
                       return true;
                     unmet = cause;
                     return false;
                   });
    return unmet;
  }

  template <class Ready>
  void examine_first_steps(Node node, Ready&& ready) {
    for (uint32_t c = 0; c < extent_.channels; ++c)
      if (schedule_.steps(node, Channel(c)) > 0)
        examine({{node, Channel(c), 0}, Half::Receive}, ready);
  }

  template <class Ready>
  void examine(const HalfRef& half, Ready&& ready) {
    const bool all_met = for_each_cause(schedule_, extent_, half.step, half.half,
                                        schedule_.step(half.step), [&](const Cause& cause) {
                                          if (met(half, cause))
                                            return true;
                                          park(cursor_of(half.step.node, half.step.channel), cause);
                                          return false;
                                        });
    if (all_met)
      ready(half);
  }

  void park(uint32_t id, const Cause& unmet) {
    if (kArrival == Arrival::Told && unmet.kind == CauseKind::Message) {
      cursors_[id].awaits_message = true;
      return;
    }
    uint32_t& head = unmet.kind == CauseKind::Enter
                         ? entry_waiters_[unmet.step.node.index()]
                         : waiters_[cursor_of(unmet.step.node, unmet.step.channel)];
    cursors_[id].next_waiter = head & kNobody;
    head = id;
  }

  template <class Ready>
  void wake(uint32_t& head, Ready&& ready) {
    uint32_t id = head;
    head = kNobody;
    while (id != kNobody) {
      const uint32_t next = cursors_[id].next_waiter;
      cursors_[id].next_waiter = kNobody;
      examine(next_half(id), ready);
      id = next;
    }
  }

  const S& schedule_;
  const Extent& extent_;
  std::vector<Cursor> cursors_;
  std::vector<uint32_t> waiters_;        // per channel: the first of those parked on it
  std::vector<uint32_t> entry_waiters_;  // per node: the first of those parked on its entry
  std::vector<bool> entered_;
  std::vector<bool> keeps_for_;       // per node: let_send_to; empty: none
  std::vector<uint32_t> unfinished_;  // per node: channels that have steps left
  StepTable<uint8_t> arrived_;  // Arrival::Told: messages that have arrived and are not yet taken
};

}  // namespace orrery
