#include "simulator/schedule/list_progress.h"

#include <algorithm>
#include <tuple>

#include "simulator/schedule/relative_state.h"

namespace orrery {

ProgramLists::ProgramLists(const Program& program, const Lowered& lowered)
    : program_(&program),
      lowered_(&lowered),
      lists_of_thread_(program.threads.size()),
      issued_by_(issued_by(program)),
      instruction_of_(program.ops.size(), 0),
      ops_at_(program.sites.size()) {
  for (uint32_t t = 0; t < program.threads.size(); ++t) {
    const Thread& thread = program.threads[t];
    for (uint32_t i = 0; i < thread.devices.size(); ++i)
      lists_.push_back({ThreadId(t), i, thread.devices[i]});
    const TapeOrder& tape = tapes_.emplace_back(lowered.tapes[t]);
    for (uint32_t i = 0; i < tape.size(); ++i)
      if (tape.begins_op(i))
        instruction_of_[tape[i].op.index()] = i;
  }
  std::sort(lists_.begin(), lists_.end(), [](const List& a, const List& b) {
    return std::tie(a.device, a.thread) < std::tie(b.device, b.thread);
  });
  for (uint32_t t = 0; t < program.threads.size(); ++t)
    lists_of_thread_[t].resize(program.threads[t].devices.size());
  for (uint32_t l = 0; l < lists_.size(); ++l)
    lists_of_thread_[lists_[l].thread.index()][lists_[l].device_index] = ListId(l);
}

uint32_t ProgramLists::end_of(OpId op) const {
  const TapeOrder& tape = this->tape(issued_by_[op.index()]);
  uint32_t end = instruction_of(op) + 1;
  while (end < tape.size() && !tape.begins_op(end))
    ++end;
  return end;
}

ListId ProgramLists::list_of(OpId op, LogicalId device) const {
  const ThreadId thread = issued_by_[op.index()];
  const std::vector<LogicalId>& devices = program_->thread(thread).devices;
  const auto at = std::lower_bound(devices.begin(), devices.end(), device);
  ORRERY_CHECK(at != devices.end() && *at == device, "the device is one of the op's thread");
  return lists_of_thread_[thread.index()][static_cast<size_t>(at - devices.begin())];
}

EnterRef ProgramLists::enter_of(CollectiveId collective, Node node) const {
  const Collective& of = lowered_->collective(collective);
  const LogicalId device = of.members[node.index()];
  const OpId op = op_at(of.site, device, of.side_of(node).value());
  return {list_of(op, device), instruction_of(op)};
}

OpId ProgramLists::op_at(SiteId site, LogicalId device, Side side) const {
  const std::vector<OpId>& ops = program_->site(site).ops;
  if (ops.size() == 1)
    return ops.front();
  std::vector<DeviceOp>& known = ops_at_[site.index()];
  if (known.empty()) {
    for (const OpId op : ops)
      for (const LogicalId one : program_->thread(issued_by_[op.index()]).devices)
        known.push_back({one, side_of(program_->op(op)), op});
    std::sort(known.begin(), known.end());
  }
  const auto at = std::lower_bound(known.begin(), known.end(), DeviceOp{device, side, {}});
  ORRERY_CHECK(at != known.end() && at->device == device && at->side == side,
               "a member's thread issues its collective");
  return at->op;
}

ListProgress::ListProgress(const ProgramLists& lists) : lists_(&lists), next_(lists.size(), 0) {
  size_t streams = 0;
  for (uint32_t l = 0; l < lists.size(); ++l) {
    first_stream_.push_back(streams);
    streams += lists.tape(ListId(l)).streams();
    held_before_.push_back(lists.tape(ListId(l)).size());
  }
  streams_.resize(streams);
}

bool ListProgress::finished() const {
  for (uint32_t l = 0; l < lists_->size(); ++l) {
    const TapeOrder& tape = lists_->tape(ListId(l));
    if (next_[l] < tape.size())
      return false;
    for (uint32_t s = 0; s < tape.streams(); ++s)
      if (streams_[first_stream_[l] + s].ended < tape.enters(s).size())
        return false;
  }
  return true;
}

bool ListProgress::rests_before(ListId list, uint32_t instruction) const {
  if (next_[list.index()] != instruction)
    return false;
  const TapeOrder& tape = lists_->tape(list);
  for (uint32_t s = 0; s < tape.streams(); ++s) {
    const uint32_t ended = streams_[first_stream_[list.index()] + s].ended;
    if (ended < tape.enters(s).size() && tape.enters(s)[ended] < instruction)
      return false;
  }
  return true;
}

void ListProgress::append_state(ListId list, RelativeState& state) const {
  const ThreadId thread = (*lists_)[list].thread;
  const TapeOrder& tape = lists_->tape(list);
  for (uint32_t s = 0; s < tape.streams(); ++s) {
    const std::span<const uint32_t> enters = tape.enters(s);
    const uint32_t ended = this->ended(list, s);
    state.add(state.position(thread, ended < enters.size() ? enters[ended] : tape.size()));
  }
}

void ListProgress::send_back(ListId list, uint32_t begin, uint32_t end) {
  ORRERY_CHECK(rests_before(list, end), "only a list at rest is sent back");
  next_[list.index()] = begin;
  const TapeOrder& tape = lists_->tape(list);
  for (uint32_t s = 0; s < tape.streams(); ++s) {
    const std::span<const uint32_t> enters = tape.enters(s);
    const auto before = static_cast<uint32_t>(
        std::lower_bound(enters.begin(), enters.end(), begin) - enters.begin());
    Stream& stream = streams_[first_stream_[list.index()] + s];
    stream.entered = stream.ended = std::min(stream.ended, before);
  }
}

std::optional<Moment> ListProgress::first_unmet(ListId list, Moment moment) const {
  std::optional<Moment> unmet;
  for_each_cause(lists_->tape(list), moment, [&](Moment cause) {
    if (happened(list, cause))
      return true;
    unmet = cause;
    return false;
  });
  return unmet;
}

}  // namespace orrery
