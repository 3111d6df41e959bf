#include "simulator/schedule/list_progress.h"

#include <algorithm>
#include <tuple>

namespace orrery {

ProgramLists::ProgramLists(const Program& program, const Lowered& lowered)
    : program_(&program),
      lowered_(&lowered),
      lists_of_thread_(program.threads.size()),
      issued_by_(issued_by(program)),
      number_of_(program.ops.size(), 0),
      ops_at_(program.sites.size()) {
  for (uint32_t t = 0; t < program.threads.size(); ++t) {
    const Thread& thread = program.threads[t];
    for (uint32_t i = 0; i < thread.devices.size(); ++i)
      lists_.push_back({ThreadId(t), i, thread.devices[i]});
    const std::span<const Instruction> instructions = lowered.tapes[t].instructions();
    for (uint32_t i = 0; i < instructions.size(); ++i)
      if (lowered.tapes[t].number_begins_op(i))
        number_of_[instructions[i].op.index()] = i;
  }
  std::sort(lists_.begin(), lists_.end(), [](const List& a, const List& b) {
    return std::tie(a.device, a.thread) < std::tie(b.device, b.thread);
  });
  for (uint32_t t = 0; t < program.threads.size(); ++t)
    lists_of_thread_[t].resize(program.threads[t].devices.size());
  for (uint32_t l = 0; l < lists_.size(); ++l)
    lists_of_thread_[lists_[l].thread.index()][lists_[l].device_index] = ListId(l);
}

ListId ProgramLists::list_of(OpId op, LogicalId device) const {
  const ThreadId thread = issued_by_[op.index()];
  const std::vector<LogicalId>& devices = program_->thread(thread).devices;
  const auto at = std::lower_bound(devices.begin(), devices.end(), device);
  ORRERY_CHECK(at != devices.end() && *at == device, "the device is one of the op's thread");
  return lists_of_thread_[thread.index()][static_cast<size_t>(at - devices.begin())];
}

EnterRef ProgramLists::enter_of(CollectiveId collective, Node node, uint64_t iteration) const {
  const Collective& of = lowered_->collective(collective);
  const LogicalId device = of.members[node.index()];
  const OpId op = op_at(of.site, device, of.side_of(node).value());
  return {list_of(op, device), position({op, iteration})};
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
    const Tape& tape = lists_->tape(ListId(l));
    if (next_[l] < tape.size())
      return false;
    for (uint32_t s = 0; s < tape.streams(); ++s)
      if (streams_[first_stream_[l] + s].ended < tape.enters(s))
        return false;
  }
  return true;
}

void ListProgress::skip(ListId list, const LoopedOrder::LoopRun& loop, uint64_t iterations) {
  const Tape& tape = lists_->tape(list);
  const uint64_t positions = iterations * loop.length;
  next_[list.index()] += positions;
  for (uint32_t s = 0; s < tape.streams(); ++s) {
    Stream& stream = streams_[first_stream_[list.index()] + s];
    for (uint64_t* const next : {&stream.entered, &stream.ended})
      if (*next < tape.enters(s))
        if (const uint64_t enter = tape.enter(s, *next); loop.has(enter))
          *next = tape.index_on_stream(enter + positions);
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
