#include "simulator/schedule/list_progress.h"

#include <algorithm>
#include <map>
#include <string_view>
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

BeginTogether::BeginTogether(const Program& program, const ProgramLists& lists,
                             const Lowered& lowered, std::vector<bool> waits)
    : lists_(&lists),
      lowered_(&lowered),
      waits_(std::move(waits)),
      is_grouped_(program.ops.size(), false),
      together_(program.ops.size()) {
  for (const Thread& thread : program.threads) {
    std::map<std::string_view, std::vector<OpId>> groups;
    for (const OpId op : thread.issue_order)
      if (const std::string& group = program.op(op).group; !group.empty())
        groups[group].push_back(op);
    for (const auto& [name, ops] : groups)
      for (const OpId op : ops) {
        together_[op.index()] = ops;
        for (const OpId other : program.site(*program.op(op).site).ops)
          is_grouped_[other.index()] = true;
      }
  }
}

bool BeginTogether::holds(EnterRef entry) const {
  const CollectiveRun run = lists_->run(entry);
  return is_grouped_[lists_->op(entry).index()] && waits_[run.collective.index()] &&
         !let_go_.contains(run);
}

/// Finds the members that begin together with this one, as far as all have entered.
BeginTogether::Connected BeginTogether::connected(EnterRef entry) const {
  Connected found;
  std::set<Place> seen = {{entry.list, entry.enter}};
  found.all.push_back(entry);
  found.before.push_back(0);
  for (size_t i = 0; i < found.all.size(); ++i) {
    const EnterRef at = found.all[i];
    const CollectiveRun run = lists_->run(at);
    const auto add = [&](EnterRef next, Node node) {
      if (!holds(next) || !seen.insert({next.list, next.enter}).second)
        return;
      if (!is_waiting(next) && !found.missing)
        found.missing = Hop{at, next, node};
      found.all.push_back(next);
      found.before.push_back(i);
    };
    for (uint32_t n = 0; n < lowered_->collective(run.collective).members.size(); ++n)
      if (lists_->is_entered(run.collective, Node(n)))
        add(lists_->enter_of(run.collective, Node(n), run.iteration), Node(n));
      else
        found.missing = Hop{at, std::nullopt, Node(n)};
    // Those of a group enter in order, so the last one tells whether all have entered.
    const std::vector<OpId>& group = together_[lists_->op(at).index()];
    for (size_t k = group.size(); k-- > 0 && !found.missing;)
      add({at.list, lists_->position({group[k], run.iteration})}, lists_->member(at).node);
    if (found.missing)
      break;
  }
  return found;
}

std::vector<EnterRef> BeginTogether::begin(const std::vector<EnterRef>& members) {
  for (const EnterRef& member : members)
    waiting_.erase({member.list, member.enter});
  return members;
}

std::vector<EnterRef> BeginTogether::enter(EnterRef entry) {
  waiting_.insert({entry.list, entry.enter});
  const Connected found = connected(entry);
  return found.missing ? std::vector<EnterRef>() : begin(found.all);
}

std::vector<EnterRef> BeginTogether::let_go(CollectiveRun run) {
  std::vector<EnterRef> all;
  const auto add = [&](const std::vector<EnterRef>& members) {
    all.insert(all.end(), members.begin(), members.end());
  };
  let_go_.insert(run);
  for (const EnterRef& entry : waiting())
    if (lists_->run(entry) == run)
      add(begin({entry}));
  for (const EnterRef& entry : waiting())
    if (is_waiting(entry))
      if (const Connected found = connected(entry); !found.missing)
        add(begin(found.all));
  return all;
}

std::vector<EnterRef> BeginTogether::waiting() const {
  std::vector<EnterRef> all;
  for (const auto& [list, enter] : waiting_)
    all.push_back({list, enter});
  return all;
}

std::optional<BeginTogether::Hop> BeginTogether::hop(EnterRef entry) const {
  if (!is_waiting(entry))
    return std::nullopt;
  const Connected found = connected(entry);
  std::optional<Hop> hop = found.missing;
  const auto index_of = [&](EnterRef member) {
    size_t i = 0;
    while (found.all[i].list != member.list || found.all[i].enter != member.enter)
      ++i;
    return i;
  };
  // This goes back along the way, so it ends with the way's first hop to another list.
  for (size_t i = hop ? index_of(hop->from) : 0; i > 0; i = found.before[i]) {
    const EnterRef to = found.all[i];
    const EnterRef from = found.all[found.before[i]];
    if (from.list == entry.list && to.list != entry.list)
      hop = Hop{from, to, lists_->member(to).node};
  }
  return hop;
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
