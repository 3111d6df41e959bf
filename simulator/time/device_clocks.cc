#include "simulator/time/device_clocks.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/scenario/size_limits.h"

namespace orrery {

namespace {

/// Returns, per op, whether it starts a collective whose end some done may await, in any iteration.
std::vector<bool> awaited_starts(const Program& program, const Iterations& iterations) {
  std::vector<bool> awaited(program.ops.size(), false);
  for (const Op& op : program.ops)
    if (op.kind == OpKind::Done)
      for (const OpId start : iterations.makers(op.operands.front()))
        awaited[start.index()] = true;
  return awaited;
}

/// Returns how many picoseconds `at` is later than `base`, modulo 2^64.
uint64_t word(Instant at, Instant base) {
  return static_cast<uint64_t>(at.picoseconds()) - static_cast<uint64_t>(base.picoseconds());
}

}  // namespace

DeviceClocks::DeviceClocks(const Program& program, const Lowered& lowered,
                           std::span<const Instant> device_start, EventLog* log,
                           const WantedSpans& wanted)
    : program_(program),
      lowered_(lowered),
      lists_(program, lowered),
      progress_(lists_),
      log_(log),
      keeps_all_(wanted.kept == nullptr),
      most_timed_(wanted.most_timed),
      clocks_(lists_.size()),
      totals_(lists_.size()),
      awaited_(awaited_starts(program, *lowered.iterations)),
      spans_(program, *lowered.iterations, wanted) {
  for (uint32_t l = 0; l < lists_.size(); ++l) {
    const Tape& tape = lists_.tape(ListId(l));
    clocks_[l].streams.resize(tape.streams());
    if (!device_start.empty())
      clocks_[l].now = device_start[lists_[ListId(l)].device.index()];
    for (StreamClock& stream : clocks_[l].streams)
      stream.last_end = clocks_[l].now;
    if (!keeps_all_)
      totals_[l].resize(tape.instructions().size());
  }
}

void DeviceClocks::pass_on(Entered entered) {
  for (const Entrance& entrance : entrances_)
    entered(entrance);
  entrances_.clear();
}

void DeviceClocks::begin(Entered entered) {
  progress_.begin(*this);
  pass_on(entered);
}

void DeviceClocks::resume(ListId list, Entered entered) {
  progress_.resume(list, *this);
  pass_on(entered);
}

void DeviceClocks::end(EnterRef by, Instant at, Node held_up_by, Entered entered) {
  Clock& clock = clocks_[by.list.index()];
  const Tape& tape = lists_.tape(by.list);
  const uint32_t number = tape.stream_at(by.enter);
  StreamClock& stream = clock.streams[number];
  ORRERY_CHECK(!stream.reached.empty(), "the compute stream passes an Enter before its end");
  const OpSpan span{stream.reached.front(), stream.entered,
                    on_behalf_of(lists_.op(by), [&] { return lists_.collective(by).end(at); }),
                    held_up_by};
  stream.reached.pop();
  while (!stream.ends.empty() && stream.ends.front().at <= clock.now)
    stream.ends.pop();
  const uint64_t ended = progress_.ended(by.list, number);
  if (ended > 0 && stream.last_end > clock.now &&
      awaited_[tape[tape.enter(number, ended - 1)].op.index()])
    stream.ends.push({ended - 1, stream.last_end});
  stream.last_end = span.end;
  ran(by.list, by.enter, span);
  happened(by.list, {MomentKind::Ended, by.enter});
  progress_.end(by, *this);
  pass_on(entered);
}

/// Returns when the collective ended. Ends that are not later than the list's clock may be
/// forgotten: for them it returns that clock, which makes no difference to a Wait.
Instant DeviceClocks::end_of(ListId list, uint64_t enter) const {
  const Tape& tape = lists_.tape(list);
  const uint32_t number = tape.stream_at(enter);
  const Clock& clock = clocks_[list.index()];
  const StreamClock& stream = clock.streams[number];
  const uint64_t index = tape.index_on_stream(enter);
  if (index + 1 == progress_.ended(list, number))
    return stream.last_end;
  for (size_t i = 0; i < stream.ends.size(); ++i)
    if (stream.ends[i].index == index)
      return stream.ends[i].at;
  return clock.now;
}

void DeviceClocks::ran(ListId list, uint64_t position, const OpSpan& span) {
  makespan_ = std::max(makespan_, span.end);
  const LoopedOrder::Item at = lists_.tape(list).item_at(position);
  const OpId op = lists_.tape(list).instructions()[at.item].op;
  spans_.add({op, at.iteration}, lists_[list].device_index, span);
  if (keeps_all_)
    return;
  if (++timed_ > most_timed_) {
    Limits limits;
    limits.runs = most_timed_;
    throw TooManyRuns(op, beyond(limits, &Limits::runs, "more"));
  }
  on_behalf_of(op, [&] { totals_[list.index()][at.item] += time_of(span); });
}

void DeviceClocks::passed(ListId list, uint64_t position) {
  Clock& clock = clocks_[list.index()];
  const Tape& tape = lists_.tape(list);
  const Instruction& instruction = tape[position];
  const Instant reached = clock.now;
  switch (instruction.kind) {
    case Instruction::Kind::Local:
      clock.now = on_behalf_of(instruction.op, [&] {
        return reached + lowered_.local_time(program_, tape.run_at(position),
                                             lists_[list].device_index, lists_[list].device);
      });
      ran(list, position, {reached, reached, clock.now});
      break;
    case Instruction::Kind::Enter:
      clock.streams[tape.stream_at(position)].reached.push(reached);
      break;
    case Instruction::Kind::Wait:
      clock.now = std::max(reached, end_of(list, tape.enter_of(position)));
      if (tape.begins_op(position))
        ran(list, position, {reached, reached, clock.now});
      break;
  }
  happened(list, {MomentKind::Passed, position});
}

void DeviceClocks::entered(EnterRef entry) {
  const Tape& tape = lists_.tape(entry.list);
  StreamClock& stream = clocks_[entry.list.index()].streams[tape.stream_at(entry.enter)];
  const Member member = lists_.member(entry);
  const Instant entry_at = on_behalf_of(lists_.op(entry), [&] {
    const Collective& collective = lowered_.collective(member.collective);
    stream.entered = collective.launched(std::max(stream.reached.front(), stream.last_end));
    return collective.entry(stream.entered);
  });
  happened(entry.list, {MomentKind::Entered, entry.enter});
  const CollectiveRun run{member.collective, tape.iteration_at(entry.enter)};
  entrances_.push_back({run, member.node, entry, entry_at});
}

void DeviceClocks::append_state(ListId list, const LoopedOrder::LoopRun& loop, Instant base,
                                std::vector<uint64_t>& words) const {
  const Tape& tape = lists_.tape(list);
  const Clock& clock = clocks_[list.index()];
  const uint64_t next = progress_.next(list);
  const bool in_loop = loop.trips > 0;
  const auto add = [&](Instant at) {
    words.push_back(word(in_loop ? at : std::max(at, base), base));
  };
  const auto place = [&](uint64_t enter) {
    words.push_back(loop.has(enter) ? next - enter : enter);
  };
  words.push_back(next < tape.size() ? tape.number_at(next) : tape.size());
  words.push_back(in_loop ? 0 : next);
  add(clock.now);
  for (uint32_t s = 0; s < tape.streams(); ++s) {
    const StreamClock& stream = clock.streams[s];
    const uint64_t entered = progress_.entered(list, s);
    const uint64_t ended = progress_.ended(list, s);
    const auto matters = [&](uint64_t index) { return !in_loop || loop.has(tape.enter(s, index)); };
    words.push_back(entered - ended);
    words.push_back(stream.reached.size());
    for (size_t i = 0; i < stream.reached.size(); ++i) {
      place(tape.enter(s, ended + i));
      if (matters(ended + i))
        add(stream.reached[i]);
    }
    if (entered > ended && matters(ended))
      add(stream.entered);
    // The next collective on the stream waits for the stream's last end.
    if (entered < tape.enters(s) && matters(entered))
      add(std::max(stream.last_end, clock.now));
    for (size_t i = 0; i <= stream.ends.size() && ended > 0; ++i) {
      const EndAt end = i < stream.ends.size() ? stream.ends[i] : EndAt{ended - 1, stream.last_end};
      if (end.at > clock.now && matters(end.index)) {
        place(tape.enter(s, end.index));
        add(end.at);
      }
    }
  }
}

std::optional<uint64_t> DeviceClocks::first_under_way(ListId list,
                                                      const LoopedOrder::LoopRun& loop) const {
  const Tape& tape = lists_.tape(list);
  const Clock& clock = clocks_[list.index()];
  std::optional<uint64_t> first;
  for (uint32_t s = 0; s < tape.streams(); ++s) {
    const StreamClock& stream = clock.streams[s];
    const auto add = [&](uint64_t index) {
      if (const uint64_t enter = tape.enter(s, index); loop.has(enter))
        first = std::min(first.value_or(enter), enter);
    };
    const uint64_t ended = progress_.ended(list, s);
    for (size_t i = 0; i < stream.ends.size(); ++i)
      if (stream.ends[i].at > clock.now)
        add(stream.ends[i].index);
    if (ended > 0 && stream.last_end > clock.now)
      add(ended - 1);
    for (size_t i = 0; i < stream.reached.size(); ++i)
      add(ended + i);
  }
  return first;
}

void DeviceClocks::skip(ListId list, const LoopedOrder::LoopRun& loop, uint64_t iterations,
                        uint64_t times, Duration later, std::span<const OpTime> before) {
  const Tape& tape = lists_.tape(list);
  Clock& clock = clocks_[list.index()];
  std::vector<OpTime>& totals = totals_[list.index()];
  for (size_t i = 0; i < totals.size(); ++i)
    if (totals[i] != before[i])
      on_behalf_of(tape.instructions()[i].op,
                   [&] { totals[i] += (totals[i] - before[i]) * static_cast<int64_t>(times); });
  const uint64_t next = progress_.next(list);
  const OpId op = tape[next].op;
  const Duration all = on_behalf_of(op, [&] { return later * static_cast<int64_t>(times); });
  const uint64_t positions = iterations * times * loop.length;
  spans_.skip(list, {next, next + positions, iterations * loop.length, later});
  on_behalf_of(op, [&] {
    clock.now = clock.now + all;
    for (uint32_t s = 0; s < tape.streams(); ++s) {
      StreamClock& stream = clock.streams[s];
      const uint64_t entered = progress_.entered(list, s);
      const uint64_t ended = progress_.ended(list, s);
      for (size_t i = 0; i < stream.reached.size(); ++i)
        if (loop.has(tape.enter(s, ended + i)))
          stream.reached[i] = stream.reached[i] + all;
      if (entered > ended && loop.has(tape.enter(s, ended)))
        stream.entered = stream.entered + all;
      if (ended > 0 && loop.has(tape.enter(s, ended - 1)))
        stream.last_end = stream.last_end + all;
      for (size_t i = 0; i < stream.ends.size(); ++i)
        if (const uint64_t enter = tape.enter(s, stream.ends[i].index); loop.has(enter))
          stream.ends[i] = {tape.index_on_stream(enter + positions), stream.ends[i].at + all};
    }
  });
  progress_.skip(list, loop, iterations * times);
}

std::vector<std::vector<OpTime>> DeviceClocks::not_kept() const {
  std::vector<std::vector<OpTime>> rest;
  if (keeps_all_)
    return rest;
  rest.resize(program_.ops.size());
  for (uint32_t l = 0; l < lists_.size(); ++l) {
    const Tape& tape = lists_.tape(ListId(l));
    for (uint32_t i = 0; i < tape.instructions().size(); ++i) {
      if (!tape.number_begins_op(i))
        continue;
      const OpId op = tape.instructions()[i].op;
      rest[op.index()].resize(program_.thread(lists_[ListId(l)].thread).devices.size());
      OpTime& time = rest[op.index()][lists_[ListId(l)].device_index];
      time = totals_[l][i] - spans_.total(op, lists_[ListId(l)].device_index);
    }
  }
  return rest;
}

std::string DeviceClocks::waiting_text() const {
  for (uint32_t l = 0; l < lists_.size(); ++l) {
    const Tape& tape = lists_.tape(ListId(l));
    for (uint32_t s = 0; s < tape.streams(); ++s)
      if (const uint64_t ended = progress_.ended(ListId(l), s);
          ended < progress_.entered(ListId(l), s))
        return fmt::format("device {} waits for the end of '{}'", lists_[ListId(l)].device.index(),
                           program_.op(tape[tape.enter(s, ended)].op).name);
  }
  fail_check("!finished()", "an unfinished device has a collective that has not ended", __FILE__,
             __LINE__);
}

}  // namespace orrery
