#pragma once

// Walks a whole program without time: every device runs its list and every collective its schedule,
// each half after its causes. No cause is a choice, so one order decides for all timings: a program
// that does not end here cannot end at all.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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
  /// The schedule by which a collective is walked.
  using ScheduleOf = std::function<const Schedule&(const Collective&)>;

  ProgramWalk(const Program& program, const Lowered& lowered, Visitor& visitor,
              ScheduleOf schedule_of = own_schedule)
      : lists_(std::make_shared<const ProgramLists>(program, lowered)),
        lowered_(lowered),
        visitor_(visitor),
        schedule_of_(std::move(schedule_of)),
        progress_(*lists_),
        running_(lowered.collectives.size()) {}

  Stop run() {
    begin();
    return stop();
  }

  /// Goes as far as it can.
  void begin() {
    progress_.begin(*this);
    go_on();
  }

  /// The same, after the sends to a member that has not entered need not wait for it.
  void let_send_to(CollectiveId id, Node node) {
    running_[id.index()].progress->let_send_to(node, halves_);
    take_ready(id);
    go_on();
  }

  const ProgramLists& lists() const { return *lists_; }
  const ListProgress& progress() const { return progress_; }

  /// The collectives that some members have entered and that have not ended, by id.
  std::vector<Stop::StuckCollective> stuck() const {
    std::vector<Stop::StuckCollective> stuck;
    for (size_t c = 0; c < running_.size(); ++c)
      if (running_[c].progress)
        stuck.push_back({CollectiveId(c), running_[c].progress->parked()});
    return stuck;
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
    if (!running.progress) {
      running.schedule = &schedule_of_(lowered_.collective(id));
      running.progress = std::make_unique<Progress>(*running.schedule);
      running.nodes_left = running.schedule->extent().nodes;
      running.entries.resize(running.schedule->extent().ranks());
    }
    running.entries[node.index()] = entry;
    visitor_.enter(id, node, lists_->op(entry));
    running.progress->enter(node, halves_);
    take_ready(id);
    if (running.progress->ended(node))
      ended_.push_back({id, node});
  }

 private:
  static const Schedule& own_schedule(const Collective& collective) { return *collective.schedule; }

  void go_on() {
    while (!ended_.empty() || !ready_.empty()) {
      if (!ended_.empty()) {
        const Member member = ended_.back();
        ended_.pop_back();
        leave(member);
      } else {
        const Ready next = ready_.back();
        ready_.pop_back();
        run(next.collective, next.half);
      }
    }
  }

  void run(CollectiveId id, HalfRef half) {
    Running& running = running_[id.index()];
    const Step step = running.schedule->step(half.step);
    if (half.half == Half::Receive)
      visitor_.receive(id, half.step, step);
    else
      visitor_.send(id, half.step, step);
    running.progress->retire(half, step, halves_);
    take_ready(id);
    if (half.half == Half::Send && running.progress->ended(half.step.node))
      ended_.push_back({id, half.step.node});
  }

  /// Those of `halves_`, of one collective.
  void take_ready(CollectiveId id) {
    for (const HalfRef& half : halves_)
      ready_.push_back({id, half});
    halves_.clear();
  }

  struct Ready {
    CollectiveId collective;
    HalfRef half;
  };

  struct Running {
    const Schedule* schedule = nullptr;
    std::unique_ptr<Progress> progress;  // from the first entry until all nodes have ended
    std::vector<EnterRef> entries;       // per rank
    uint32_t nodes_left = 0;             // that have steps left, or have not entered
  };

  void leave(Member member) {
    Running& running = running_[member.collective.index()];
    std::optional<EnterRef> entry;  // none of a switch
    if (member.node.index() < running.entries.size())
      entry = running.entries[member.node.index()];
    if (entry)
      visitor_.exit(member.collective, member.node, lists_->op(*entry));
    if (--running.nodes_left == 0)
      running = Running{};
    if (entry)
      progress_.end(*entry, *this);
  }

  Stop stop() { return {lists_, std::move(progress_), stuck()}; }

  std::shared_ptr<const ProgramLists> lists_;
  const Lowered& lowered_;
  Visitor& visitor_;
  ScheduleOf schedule_of_;
  ListProgress progress_;
  std::vector<Running> running_;  // per collective
  std::vector<Member> ended_;     // members whose steps have all retired
  std::vector<Ready> ready_;      // halves whose causes are met
  std::vector<HalfRef> halves_;   // the same, of one collective, while it is asked
};

/// `program` and `lowered` must outlive what is returned.
template <class Visitor>
Stop walk(const Program& program, const Lowered& lowered, Visitor& visitor) {
  return ProgramWalk<Visitor>(program, lowered, visitor).run();
}

}  // namespace orrery
