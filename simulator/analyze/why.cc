#include "simulator/analyze/why.h"

#include <algorithm>
#include <set>
#include <utility>

#include "models/base/check.h"
#include "simulator/analyze/critical_path.h"
#include "simulator/analyze/list_runs.h"
#include "simulator/event/recording.h"
#include "simulator/schedule/causes.h"
#include "simulator/schedule/end_copies.h"
#include "simulator/schedule/progress.h"
#include "simulator/time/origins.h"

namespace orrery {
namespace {

using What = Reason::What;
using After = Reason::After;

After after(const Cause& cause, const HalfRef& half) {
  switch (cause.kind) {
    case CauseKind::Enter:
      return cause.step.node == half.step.node ? After::Entry : After::PeerEntry;
    case CauseKind::Order:
      return After::StepBefore;
    case CauseKind::After:
      return After::OtherStep;
    case CauseKind::Message:
      return After::Message;
    case CauseKind::Credit:
      return After::SlotFree;
  }
  fail_check("kind is an enumerator", "a kind is one of the enumeration", __FILE__, __LINE__);
}

/// It finds the part of the chain inside one collective, from the end of a member back to the entry
/// that held it up.
class Inside {
 public:
  Inside(const Collective& collective, CollectiveId id, const ListRuns& runs,
         const Recording& recording, std::vector<Reason>& reasons)
      : collective_(collective),
        schedule_(*collective_.schedule),
        id_(id),
        runs_(runs),
        recording_(recording),
        reasons_(reasons),
        outside_(reasons.size()) {}

  /// Adds the stretches, last to first.
  void back_from(Node node) {
    add_leaving(node);
    for (std::optional<HalfRef> half = last_of(node); half;) {
      const StepRecord& ran = recording_.at(id_, half->step);
      const Step step = schedule_.step(half->step);
      if (half->half == Half::Receive)
        add(timed_actions(step.form(), Half::Receive).combines ? What::Reduce : What::Copy,
            half->step.node, std::nullopt, step, ran.receive_begin, ran.received);
      else
        add(What::Send, half->step.node, step.to, step, ran.send_begin, ran.sent);

      const Cause cause = last_met(*half, step);
      begins_after(after(cause, *half));
      if (cause.kind == CauseKind::Enter)
        return add_packing(cause.step.node);
      if (cause.kind == CauseKind::Message) {
        const StepRecord& sent = recording_.at(id_, cause.step);
        add(What::Flight, cause.step.node, half->step.node, step, sent.sent, sent.arrived);
        begins_after(After::Sent);
      }
      half = HalfRef{cause.step, cause.half};
    }
  }

 private:
  /// Adds the stretch from the member's last step to the end of the collective on its device.
  void add_leaving(Node node) {
    const Instant end = runs_.span(runs_.lists().enter_of(id_, node)).end;
    add_copy(node, bytes_unpacked(collective_.work, schedule_.extent()), collective_.steps_end(end),
             end, After::StepBefore);
  }

  /// Adds the stretch from the launch of the member to its entry.
  void add_packing(Node node) {
    add_copy(node, bytes_packed(collective_.work, schedule_.extent()),
             runs_.span(runs_.lists().enter_of(id_, node)).entered, entry(node), After::Launch);
  }

  void add_copy(Node node, Bytes bytes, Instant begin, Instant end, After because) {
    if (begin == end)
      return;
    Reason reason;
    reason.what = What::Copy;
    reason.op = runs_.lists().op(id_, node);
    reason.place = place(node);
    reason.bytes = bytes;
    reason.begin = begin;
    reason.end = end;
    reason.because = because;
    reasons_.push_back(reason);
  }

  std::optional<HalfRef> last_of(Node node) const {
    LastMet<Instant, HalfRef> last;
    for_each_cause_of_end(schedule_, schedule_.extent(), node, [&](const Cause& cause) {
      last.add({when(cause), {cause.step, cause.half}});
    });
    return last.origin();
  }

  Cause last_met(const HalfRef& half, const Step& step) const {
    LastMet<Instant, Cause> last;
    for_each_cause(schedule_, schedule_.extent(), half.step, half.half, step,
                   [&](const Cause& cause) {
                     last.add({when(cause), cause});
                     return true;
                   });
    ORRERY_CHECK(last.any(), "every half has a cause");
    return last.get().origin;
  }

  Instant when(const Cause& cause) const {
    return cause.kind == CauseKind::Enter ? entry(cause.step.node)
                                          : met_at(recording_.at(id_, cause.step), cause);
  }

  VertexId place(Node node) const { return collective_.vertices[node.index()]; }

  Instant entry(Node node) const {
    const EnterRef entry = runs_.lists().enter_of(id_, node);
    return runs_.at(entry.list, {MomentKind::Entered, entry.enter});
  }

  void add(What what, Node at, std::optional<Node> to, const Step& step, Instant begin,
           Instant end) {
    if (begin == end)
      return;
    Reason reason;
    reason.what = what;
    reason.op = runs_.lists().op(id_, collective_.is_member(at) ? at : Node(0));
    reason.place = place(at);
    if (to)
      reason.to = place(*to);
    reason.bytes = itemsize(collective_.work) * step.count();
    reason.begin = begin;
    reason.end = end;
    reason.because = After::StepBefore;
    reasons_.push_back(reason);
  }

  /// Sets the cause of the stretch that was added last. Several causes may lie between two
  /// stretches, since some took no time. The first one other than the channel's order counts.
  void begins_after(After cause) {
    if (reasons_.size() > outside_ && reasons_.back().because == After::StepBefore)
      reasons_.back().because = cause;
  }

  const Collective& collective_;
  const Schedule& schedule_;
  const CollectiveId id_;
  const ListRuns& runs_;
  const Recording& recording_;
  std::vector<Reason>& reasons_;
  const size_t outside_;  // the number of reasons outside the collective, after it
};

class ReasonChain {
 public:
  ReasonChain(const Program& program, const Lowered& lowered, const Completion& completion,
              const Recording& recording)
      : program_(program),
        lowered_(lowered),
        recording_(recording),
        runs_(program, lowered, completion) {}

  std::vector<Reason> along(const std::vector<PathEntry>& path, LogicalId ends_on) {
    for (size_t e = path.size(); e-- > 0;) {
      const PathEntry& entry = path[e];
      if (program_.op(entry.op).site)
        add_inside(entry, e + 1 < path.size() ? path[e + 1].device : ends_on);
      add_first(entry, e > 0 ? &path[e - 1] : nullptr);
    }
    std::reverse(reasons_.begin(), reasons_.end());
    return std::move(reasons_);
  }

 private:
  void add_inside(const PathEntry& entry, LogicalId ends_on) {
    const CollectiveId id = lowered_.member(program_, entry.op, entry.device).collective;
    const Collective& collective = lowered_.collective(id);
    Inside(collective, id, runs_, recording_, reasons_).back_from(node_of(collective, ends_on));
  }

  static Node node_of(const Collective& collective, LogicalId device) {
    const auto at = std::find(collective.members.begin(), collective.members.end(), device);
    return Node(static_cast<size_t>(at - collective.members.begin()));
  }

  /// Adds the computation, or the entry of the member that held the collective up.
  void add_first(const PathEntry& entry, const PathEntry* before) {
    const OpSpan& span = runs_.span(entry.op, entry.device);
    const bool enters = program_.op(entry.op).site.has_value();
    Reason reason;
    reason.what = enters ? What::Enter : What::Compute;
    reason.op = entry.op;
    reason.place = VertexId(entry.device.index());  // logical id d runs on device d
    reason.begin = entry.start;
    reason.end = enters ? span.entered : span.end;
    if (before != nullptr) {
      const bool ends = program_.op(before->op).site.has_value();
      const Moment began{enters ? MomentKind::Entered : MomentKind::Passed,
                         runs_.lists().position({entry.op})};
      const Moment cause = *runs_.last_met(runs_.lists().list_of(entry.op, entry.device), began);
      reason.because = !ends                             ? After::Computed
                       : cause.kind == MomentKind::Ended ? After::StreamFree
                                                         : After::Ended;
      reason.after = before->op;
      if (ends) {
        const CollectiveId id = lowered_.member(program_, before->op, before->device).collective;
        const Node node = node_of(lowered_.collective(id), entry.device);
        reason.after = runs_.lists().op(id, node);
      }
    }
    reasons_.push_back(reason);
  }

  const Program& program_;
  const Lowered& lowered_;
  const Recording& recording_;
  const ListRuns runs_;
  std::vector<Reason> reasons_;  // last to first
};

}  // namespace

std::vector<Reason> why(const Program& program, const Lowered& lowered, const Fabric& fabric,
                        const Completion& completion, OpId op, LogicalId device) {
  const OpOnDevice end{op, device};
  return why(program, lowered, fabric, completion, std::span(&end, 1)).front();
}

std::vector<std::vector<Reason>> why(const Program& program, const Lowered& lowered,
                                     const Fabric& fabric, const Completion& completion,
                                     std::span<const OpOnDevice> ends) {
  std::vector<std::vector<PathEntry>> paths;
  std::set<CollectiveId> collectives;
  const auto nothing = [&](const PathEntry& entry) {
    return !program.op(entry.op).site && entry.start == entry.end;
  };
  for (const OpOnDevice& end : ends) {
    std::vector<PathEntry>& path =
        paths.emplace_back(path_to(program, lowered, completion, end.op, end.device));
    std::erase_if(path, nothing);
    for (const PathEntry& entry : path)
      if (program.op(entry.op).site)
        collectives.insert(lowered.member(program, entry.op, entry.device).collective);
  }
  const std::vector<CollectiveId> recorded(collectives.begin(), collectives.end());
  Recording recording(lowered, recorded);
  EventLog log([&](std::span<const HalfEvent> events) { recording.add(events); });
  record(program, lowered, fabric, completion, log);
  std::vector<std::vector<Reason>> chains;
  for (size_t e = 0; e < ends.size(); ++e)
    chains.push_back(
        ReasonChain(program, lowered, completion, recording).along(paths[e], ends[e].device));
  return chains;
}

namespace {

BufferId buffer_of(const Program& program, ValueId value) {
  return program.value(value).buffer;
}

/// Returns the thread's other values in the buffer.
std::vector<ValueId> others(const Program& program, const Thread& thread, ValueId value) {
  std::vector<ValueId> others;
  const auto add = [&](ValueId other) {
    if (other != value && buffer_of(program, other) == buffer_of(program, value))
      others.push_back(other);
  };
  for (const Argument& argument : program.arguments)
    add(argument.value);
  for (const OpId op : thread.issue_order)
    for (const ValueId result : program.op(op).results)
      add(result);
  return others;
}

}  // namespace

std::vector<ValueLife> value_lives(const Program& program, const Lowered& lowered,
                                   const MemoryPolicy& policy, const MemoryProfile& memory,
                                   ValueId value) {
  std::vector<ValueLife> lives;
  const BufferId buffer = buffer_of(program, value);
  const Lifetimes lifetimes(program, lowered, policy);
  for (size_t l = 0; l < memory.lists.size(); ++l) {
    const ListMemory& list = memory.lists[l];
    if (!list.thread || std::ranges::binary_search(list.lacks, value))
      continue;
    const Thread& thread = program.thread(*list.thread);
    const std::vector<Lifetime> all = lifetimes.of(list);
    const auto lifetime = std::find_if(all.begin(), all.end(),
                                       [&](const Lifetime& one) { return one.buffer == buffer; });
    if (lifetime == all.end())  // the list does not hold it
      continue;
    const auto op_at = [&](int64_t position) {
      return thread.issue_order[static_cast<size_t>(position)];
    };
    ValueLife life;
    life.thread = *list.thread;
    life.size = lifetime->size;
    if (lifetime->held.from != kBeforeFirst)
      life.from = op_at(lifetime->held.from);
    life.until = lifetime->until;
    // The value that takes the storage over begins just after the end of this one.
    const int64_t to = lifetime->held.to + (life.until == HeldUntil::TakenOver ? 1 : 0);
    if (to < static_cast<int64_t>(thread.issue_order.size()))
      life.to = op_at(to);
    // Devices that have other values may hold this one as long.
    auto known = std::ranges::find_if(lives, [&](const ValueLife& each) {
      return std::tie(each.thread, each.from, each.to, each.until) ==
             std::tie(life.thread, life.from, life.to, life.until);
    });
    if (known == lives.end()) {
      life.together = others(program, thread, value);
      known = lives.insert(lives.end(), std::move(life));
    }
    for (const LogicalId device : thread.devices)
      if (const auto& lists = memory.of(device).lists; std::ranges::find(lists, l) != lists.end())
        known->devices.push_back(device);
    std::ranges::sort(known->devices);
  }
  return lives;
}

}  // namespace orrery
