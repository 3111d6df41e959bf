#include "simulator/schedule/progress.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "models/base/check.h"
#include "simulator/schedule/sliced_schedule.h"

namespace orrery {

namespace {

constexpr const char* kInOrder = "halves of a channel retire in order";

template <class Flags>
void append_bits(const Flags& flags, std::vector<uint64_t>& words) {
  for (size_t i = 0; i < flags.size(); i += 64) {
    uint64_t word = 0;
    for (size_t bit = 0; bit < std::min<size_t>(64, flags.size() - i); ++bit)
      word |= uint64_t{flags[i + bit] ? 1U : 0U} << bit;
    words.push_back(word);
  }
}

}  // namespace

Progress::Progress(const Schedule& schedule, Arrival arrival)
    : schedule_(schedule),
      extent_(schedule.extent()),
      told_(arrival == Arrival::Told),
      cursors_(extent_.all_channels()),
      waiters_(cursors_.size(), kNobody),
      entry_waiters_(extent_.nodes, kNobody),
      entered_(extent_.nodes, false),
      unfinished_(extent_.nodes, 0),
      arrived_at_(told_ ? cursors_.size() : 0) {
  if (told_)
    arrived_ = StepTable<uint8_t>(schedule, 0);
  ORRERY_CHECK(cursors_.size() < kNobody, "channels have numbers of 30 bits");
  for (uint32_t n = 0; n < extent_.nodes; ++n)
    for_each_cause_of_end(schedule_, extent_, Node(n), [&](const Cause&) { ++unfinished_[n]; });
  std::vector<HalfRef> ready;
  for (uint32_t n = extent_.ranks(); n < extent_.nodes; ++n) {
    ORRERY_CHECK(unfinished_[n] > 0, "a switch node has steps");
    entered_[n] = true;
    examine_first_steps(Node(n), ready);
  }
  ORRERY_CHECK(ready.empty(), "the first step of a channel of a switch node has a cause");
}

void Progress::enter(Node node, std::vector<HalfRef>& ready) {
  ORRERY_CHECK(!entered(node), "a node enters its collective once");
  entered_[node.index()] = true;
  examine_first_steps(node, ready);
  wake(entry_waiters_[node.index()], ready);
}

void Progress::let_send_to(Node node, std::vector<HalfRef>& ready) {
  if (keeps_for_.empty())
    keeps_for_.resize(extent_.nodes, false);
  keeps_for_[node.index()] = true;
  wake(entry_waiters_[node.index()], ready);
}

void Progress::arrive(StepRef receiver, std::vector<HalfRef>& ready) {
  ORRERY_CHECK(told_, "messages arrive with their sends, or when this is called");
  const uint32_t id = cursor_of(receiver.node, receiver.channel);
  arrived_.at(receiver) = true;
  ++arrived_at_[id];
  Cursor& cursor = cursors_[id];
  if (cursor.awaits_message && cursor.index == receiver.index) {
    cursor.awaits_message = false;
    // The half was parked on its first unmet cause. Only causes of sending come after a message.
    if (extent_.fused == FusedStep::Atomic)
      examine({receiver, Half::Receive}, ready);
    else
      ready.push_back({receiver, Half::Receive});
  }
}

void Progress::retire(HalfRef half, const Step& step, std::vector<HalfRef>& ready) {
  if (half.half == Half::Send)
    return retire_send(half.step, ready);
  const uint32_t id = cursor_of(half.step.node, half.step.channel);
  Cursor& cursor = cursors_[id];
  ORRERY_CHECK(cursor.index == half.step.index && !cursor.received, kInOrder);
  if (told_ && std::exchange(arrived_.at(half.step), false))
    --arrived_at_[id];
  cursor.received = true;
  examine({half.step, Half::Send}, step, ready);
  // Another channel waits for a receive half only if that frees the slot of a message.
  if (frees_slot_in(step.form()) == Half::Receive)
    wake(waiters_[id], ready);
}

void Progress::retire_send(StepRef ref, std::vector<HalfRef>& ready) {
  const uint32_t id = cursor_of(ref.node, ref.channel);
  Cursor& cursor = cursors_[id];
  ORRERY_CHECK(cursor.index == ref.index && cursor.received, kInOrder);
  cursor.received = false;
  ++cursor.index;
  if (cursor.index < schedule_.steps(ref.node, ref.channel))
    examine({{ref.node, ref.channel, cursor.index}, Half::Receive}, ready);
  else
    --unfinished_[ref.node.index()];  // its last step
  wake(waiters_[id], ready);
}

void Progress::append_state(std::vector<uint64_t>& words) const {
  append_bits(entered_, words);
  for (uint32_t id = 0; id < cursors_.size(); ++id) {
    words.push_back(uint64_t{cursors_[id].index} << 1U | (cursors_[id].received ? 1U : 0U));
    append_arrived(id, words);
  }
}

void Progress::append_state(const SlicedSchedule& cut, uint32_t iteration,
                            std::vector<uint64_t>& words) const {
  append_bits(entered_, words);
  for (uint32_t id = 0; id < cursors_.size(); ++id) {
    const StepRef step = next_half(id).step;
    if (is_over(step)) {
      words.push_back(std::numeric_limits<uint64_t>::max());
      continue;
    }
    const uint64_t begin = uint64_t{iteration} * cut.length(step.node, step.channel);
    words.push_back((step.index - begin) << 1U | (cursors_[id].received ? 1U : 0U));
    append_arrived(id, words);
  }
}

/// Appends how many messages wait for a channel, and for which steps, counted from the one that it
/// is at.
void Progress::append_arrived(uint32_t id, std::vector<uint64_t>& words) const {
  uint32_t left = told_ ? arrived_at_[id] : 0;
  words.push_back(left);
  StepRef step = next_half(id).step;
  for (uint32_t ahead = 0; left > 0; ++ahead, ++step.index)
    if (arrived_.at(step)) {
      words.push_back(ahead);
      --left;
    }
}

uint32_t Progress::last_iteration(const SlicedSchedule& cut) const {
  uint32_t last = 0;
  for (uint32_t id = 0; id < cursors_.size(); ++id) {
    const StepRef step = next_half(id).step;
    if (!is_over(step))
      last = std::max(last, step.index / cut.length(step.node, step.channel));
  }
  return last;
}

void Progress::skip(const SlicedSchedule& cut, uint32_t iterations) {
  for (uint32_t id = 0; id < cursors_.size(); ++id) {
    const StepRef step = next_half(id).step;
    if (is_over(step))
      continue;
    const uint32_t steps = iterations * cut.length(step.node, step.channel);
    cursors_[id].index += steps;
    arrived_.move(step, steps);
  }
}

std::vector<Parked> Progress::parked() const {
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

std::optional<Cause> Progress::first_unmet(const HalfRef& half) const {
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

void Progress::examine_first_steps(Node node, std::vector<HalfRef>& ready) {
  for (uint32_t c = 0; c < extent_.channels; ++c)
    if (schedule_.steps(node, Channel(c)) > 0)
      examine({{node, Channel(c), 0}, Half::Receive}, ready);
}

void Progress::examine(const HalfRef& half, const Step& step, std::vector<HalfRef>& ready) {
  // When a receive half is examined, its order and its entry are met already. So mostly only its
  // message is missing.
  if (told_ && half.half == Half::Receive && step.from && !step.after && !arrived_.at(half.step)) {
    cursors_[cursor_of(half.step.node, half.step.channel)].awaits_message = true;
    return;
  }
  const bool all_met =
      for_each_cause(schedule_, extent_, half.step, half.half, step, [&](const Cause& cause) {
        if (met(half, cause))
          return true;
        park(cursor_of(half.step.node, half.step.channel), cause);
        return false;
      });
  if (all_met)
    ready.push_back(half);
}

void Progress::park(uint32_t id, const Cause& unmet) {
  if (told_ && unmet.kind == CauseKind::Message) {
    cursors_[id].awaits_message = true;
    return;
  }
  uint32_t& head = unmet.kind == CauseKind::Enter
                       ? entry_waiters_[unmet.step.node.index()]
                       : waiters_[cursor_of(unmet.step.node, unmet.step.channel)];
  cursors_[id].next_waiter = head & kNobody;
  head = id;
}

void Progress::wake(uint32_t& head, std::vector<HalfRef>& ready) {
  uint32_t id = head;
  head = kNobody;
  while (id != kNobody) {
    const uint32_t next = cursors_[id].next_waiter;
    cursors_[id].next_waiter = kNobody;
    examine(next_half(id), ready);
    id = next;
  }
}

}  // namespace orrery
