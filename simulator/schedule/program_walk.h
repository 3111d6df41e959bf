#pragma once

// Walks a whole program without time: every device runs its list and every collective its schedule,
// each half after its causes. No cause is a choice, so one order decides for all timings: a program
// that does not end here cannot end at all.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "simulator/schedule/list_progress.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/progress.h"

namespace orrery {

/// Where a program stopped.
struct Stop {
  struct StuckCollective {
    CollectiveId id;
    std::vector<Node> not_entered;
    std::vector<Parked> parked;
  };
  std::shared_ptr<const ProgramLists> lists;  // of the program that was walked
  ListProgress progress;                      // how far each list came
  std::vector<StuckCollective> collectives;   // entered by some members and not ended, by id

  bool finished() const { return progress.finished(); }
  /// The lists that are at a Wait, by device.
  std::vector<ListId> waiting() const {
    std::vector<ListId> result;
    for (uint32_t l = 0; l < lists->size(); ++l)
      if (progress.next(ListId(l)) < lists->tape(ListId(l)).size())
        result.emplace_back(l);
    return result;
  }
};

/// Calls, each in an order that respects all causes:
///   visitor.local(OpId, LogicalId)                        a local op on one device
///   visitor.enter(CollectiveId, Node, OpId)               a member enters
///   visitor.receive / visitor.send(CollectiveId, StepRef, const Step&)
///   visitor.exit(CollectiveId, Node, OpId)                all steps of the member have retired
template <class Visitor>
class ProgramWalk {
 public:
  ProgramWalk(const Program& program, const Lowered& lowered, Visitor& visitor)
      : lists_(std::make_shared<const ProgramLists>(program, lowered)),
        lowered_(lowered),
        visitor_(visitor),
        progress_(*lists_),
        running_(lowered.collectives.size()) {}

  Stop run() {
    progress_.begin(*this);
    while (!ended_.empty() || !ready_.empty()) {
      if (!ended_.empty()) {
        const Member member = ended_.back();
        ended_.pop_back();
        leave(member);
      } else {
        const Ready next = ready_.back();
        ready_.pop_back();
        run_half(next.collective, next.half);
      }
    }
    return stop();
  }

  // The callbacks of ListProgress.

  void passed(ListId list, uint32_t instruction) {
    const Instruction& at = lists_->tape(list)[instruction];
    if (at.kind == Instruction::Kind::Local)
      visitor_.local(at.op, (*lists_)[list].device);
  }

  void entered(EnterRef entry) {
    const auto [id, node] = lists_->member(entry);
    Running& running = running_[id.index()];
    if (!running.steps) {
      const Schedule& schedule = *lowered_.collective(id).schedule;
      running.steps = std::make_unique<Steps>(schedule);
      running.nodes_left = schedule.extent().nodes;
      running.entries.resize(running.nodes_left);
    }
    running.entries[node.index()] = entry;
    visitor_.enter(id, node, op_of(entry));
    running.steps->enter(node, [&, id = id](HalfRef half) { ready_.push_back({id, half}); });
    if (running.steps->ended(node))
      ended_.push_back({id, node});
  }

 private:
  using Steps = Progress<Schedule, Arrival::WithSend>;

  struct Ready {
    CollectiveId collective;
    HalfRef half;
  };
  struct Running {
    std::unique_ptr<Steps> steps;   // from the first entry until all nodes have ended
    std::vector<EnterRef> entries;  // per node
    uint32_t nodes_left = 0;
  };

  OpId op_of(EnterRef entry) const { return lists_->tape(entry.list)[entry.enter].op; }

  void run_half(CollectiveId id, HalfRef half) {
    const Collective& collective = lowered_.collective(id);
    const Step step = collective.schedule->step(half.step);
    if (half.half == Half::Receive)
      visitor_.receive(id, half.step, step);
    else
      visitor_.send(id, half.step, step);
    Steps& steps = *running_[id.index()].steps;
    steps.retire(half, [&](HalfRef next) { ready_.push_back({id, next}); });
    if (half.half == Half::Send && steps.ended(half.step.node))
      ended_.push_back({id, half.step.node});
  }

  void leave(Member member) {
    Running& running = running_[member.collective.index()];
    const EnterRef entry = running.entries[member.node.index()];
    visitor_.exit(member.collective, member.node, op_of(entry));
    if (--running.nodes_left == 0)
      running = Running{};
    progress_.end(entry, *this);
  }

  Stop stop() {
    Stop stop{lists_, std::move(progress_), {}};
    for (size_t c = 0; c < running_.size(); ++c) {
      if (!running_[c].steps)
        continue;
      Stop::StuckCollective stuck{CollectiveId(c), {}, running_[c].steps->parked()};
      for (uint32_t n = 0; n < lowered_.collectives[c].members.size(); ++n)
        if (!running_[c].steps->entered(Node(n)))
          stuck.not_entered.emplace_back(n);
      stop.collectives.push_back(std::move(stuck));
    }
    return stop;
  }

  std::shared_ptr<const ProgramLists> lists_;
  const Lowered& lowered_;
  Visitor& visitor_;
  ListProgress progress_;
  std::vector<Running> running_;  // per collective
  std::vector<Member> ended_;     // members whose steps have all retired
  std::vector<Ready> ready_;      // halves whose causes are met
};

/// `program` and `lowered` must outlive what is returned.
template <class Visitor>
Stop walk(const Program& program, const Lowered& lowered, Visitor& visitor) {
  return ProgramWalk<Visitor>(program, lowered, visitor).run();
}

}  // namespace orrery
