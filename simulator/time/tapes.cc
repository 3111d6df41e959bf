#include "simulator/time/tapes.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/program/op_overflow.h"
#include "simulator/event/event_log.h"
#include "simulator/schedule/relative_state.h"

namespace orrery {

Tapes::Tapes(const Program& program, const Lowered& lowered, std::span<const Instant> device_start,
             EventLog* log, RepeatOptions repeats)
    : program_(program),
      lowered_(lowered),
      lists_(program, lowered),
      progress_(lists_),
      log_(log),
      start_(lists_.size()),
      entries_(lowered.collectives.size()),
      spans_(program.ops.size()),
      repeats_(program, lists_, std::move(repeats), progress_, spans_) {
  for (const Thread& thread : program.threads)
    for (const OpId op : thread.issue_order)
      spans_[op.index()].resize(thread.devices.size());
  for (uint32_t l = 0; l < lists_.size() && !device_start.empty(); ++l)
    start_[l] = device_start[lists_[ListId(l)].device.index()];
}

void Tapes::begin(Entered entered) {
  progress_.begin(*this);
  for (const Entrance& entrance : std::exchange(entrances_, {}))
    entered(entrance);
}

void Tapes::end(CollectiveId id, Node node, Instant at, Entered entered) {
  const EnterRef entry = entries_[id.index()][node.index()];
  OpSpan& span = this->span(entry.list, entry.enter);
  span.end = on_behalf_of(lists_.tape(entry.list)[entry.enter].op,
                          [&] { return lowered_.collective(id).end(at); });
  repeats_.ended(entry.list, span.end);
  happened(entry.list, {MomentKind::Ended, entry.enter});
  progress_.end(entry, *this);
  for (const Entrance& entrance : entrances_)
    entered(entrance);
  entrances_.clear();
}

bool Tapes::at_rest(Entered entered) {
  const std::vector<ListId> released = repeats_.at_rest();
  for (const ListId list : released)
    progress_.resume(list, *this);
  for (const Entrance& entrance : std::exchange(entrances_, {}))
    entered(entrance);
  return !released.empty();
}

void Tapes::append_state(RelativeState& state) const {
  for (uint32_t l = 0; l < lists_.size(); ++l) {
    const ListId list(l);
    const TapeOrder& tape = lists_.tape(list);
    progress_.append_state(list, state);
    const uint32_t next = progress_.next(list);
    // The compute stream. It waits for an end that is still to come, or has no more instructions.
    if (next == 0)
      state.add_ahead(start_[l]);
    else if (next < tape.size())
      state.add_ahead(instant_of(spans_, lists_, list, {MomentKind::Passed, next - 1}));
    for (uint32_t s = 0; s < tape.streams(); ++s) {
      const std::span<const uint32_t> enters = tape.enters(s);
      // Ends may be ahead, since the result is copied out after the last step. They happen in
      // order, and those before the last are not ahead: the last was entered after them.
      if (const uint32_t ended = progress_.ended(list, s); ended > 0)
        state.add_ahead(instant_of(spans_, lists_, list, {MomentKind::Ended, enters[ended - 1]}));
      // Passed, but not entered until the one before has ended.
      for (uint32_t i = progress_.entered(list, s); i < enters.size() && enters[i] < next; ++i)
        state.add_ahead(instant_of(spans_, lists_, list, {MomentKind::Passed, enters[i]}));
    }
  }
}

Instant Tapes::makespan() const {
  Instant last;
  for (const std::vector<OpSpan>& of_op : spans_)
    for (const OpSpan& span : of_op)
      last = std::max(last, span.end);
  return last;
}

void Tapes::passed(ListId list, uint32_t instruction) {
  const TapeOrder& tape = lists_.tape(list);
  const Moment moment{MomentKind::Passed, instruction};
  OpSpan& span = this->span(list, instruction);
  const Instant reached =
      instruction == 0 ? start_[list.index()]
                       : instant_of(spans_, lists_, list, {MomentKind::Passed, instruction - 1});
  if (tape.begins_op(instruction))
    span.start = span.entered = reached;
  if (ends_op(tape, moment)) {
    const OpId op = tape[instruction].op;
    span.end = on_behalf_of(op, [&] {
      return causes_met(list, moment) + lowered_.local[op.index()].at(lists_[list].device_index);
    });
  }
  happened(list, moment);
}

void Tapes::entered(EnterRef entry) {
  const Instruction& at = lists_.tape(entry.list)[entry.enter];
  const Member member = lists_.member(entry);
  OpSpan& span = this->span(entry.list, entry.enter);
  const Instant entry_at = on_behalf_of(at.op, [&] {
    const Collective& collective = lowered_.collective(member.collective);
    span.entered = collective.launched(causes_met(entry.list, {MomentKind::Entered, entry.enter}));
    return collective.entry(span.entered);
  });
  std::vector<EnterRef>& entries = entries_[member.collective.index()];
  entries.resize(lowered_.collective(member.collective).members.size());
  entries[member.node.index()] = entry;
  happened(entry.list, {MomentKind::Entered, entry.enter});
  entrances_.push_back({member.collective, member.node, entry_at});
}

std::string Tapes::waiting_text() const {
  for (uint32_t l = 0; l < lists_.size(); ++l) {
    const TapeOrder& tape = lists_.tape(ListId(l));
    for (uint32_t s = 0; s < tape.streams(); ++s)
      for (const uint32_t enter : tape.enters(s))
        if (progress_.happened(ListId(l), {MomentKind::Entered, enter}) &&
            !progress_.happened(ListId(l), {MomentKind::Ended, enter}))
          return fmt::format("device {} waits for the end of '{}'",
                             lists_[ListId(l)].device.index(), program_.op(tape[enter].op).name);
  }
  fail_check("!finished()", "an unfinished device has a collective that has not ended", __FILE__,
             __LINE__);
}

Instant Tapes::causes_met(ListId list, Moment moment) const {
  Instant last = start_[list.index()];
  for_each_cause(lists_.tape(list), moment, [&](Moment cause) {
    last = std::max(last, instant_of(spans_, lists_, list, cause));
    return true;
  });
  return last;
}

void Tapes::happened(ListId list, Moment moment) {
  if (log_ != nullptr)
    log_->add(list, moment);
}

}  // namespace orrery
