#pragma once

// A ProgramWalk runs a whole program without time: every device runs its list and every collective
// its schedule, each half after its causes. No cause leaves a choice, so one order stands for all
// timings: a program that does not end here cannot end at all.
//
// Halves run as soon as they may, but the rendezvous of a group begin together. In loops, however,
// and where other walkers share their orders, a collective waits until all its members have
// entered. Then its halves run in an order that is found once for its schedule, and no causes are
// checked. When nothing else can go on, collectives that some members have entered run half by
// half.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "simulator/schedule/list_progress.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/progress.h"
#include "simulator/schedule/run_table.h"
#include "simulator/schedule/walk.h"

namespace orrery {

/// A Stop says where a program stopped.
struct Stop {
  struct StuckCollective {
    CollectiveRun run;
    std::vector<Parked> parked;
  };
  std::shared_ptr<const ProgramLists> lists;  // of the program that was walked
  ListProgress progress;                      // how far each list came
  std::vector<StuckCollective> collectives;   // entered by some members and not ended
  std::optional<BeginTogether> groups;        // of psends and precvs, if there are any

  bool finished() const { return progress.finished(); }
  /// Returns the lists that are not at their ends, by device.
  std::vector<ListId> waiting() const {
    std::vector<ListId> result;
    for (uint32_t l = 0; l < lists->size(); ++l)
      if (progress.next(ListId(l)) < lists->tape(ListId(l)).size())
        result.emplace_back(l);
    return result;
  }
};

/// Calls these functions, in an order that respects all causes:
///   visitor.local(OpRun, LogicalId)                         a local op on one device
///   visitor.issue(CollectiveRun, Node, OpRun)               a list comes to a collective, and may
///                                                           go on before its member can enter
///   visitor.done(OpRun, LogicalId)                          a device passes a done
///   visitor.enter(CollectiveRun, Node, OpRun)               a member enters
///   visitor.receive / visitor.send(CollectiveRun, StepRef, const Step&)
///   visitor.exit(CollectiveRun, Node, OpRun)                all steps of the member have retired
template <class Visitor>
class ProgramWalk {
 public:
  /// Returns the schedule by which a collective is walked.
  using ScheduleOf = std::function<const Schedule&(const Collective&)>;

  /// `schedule_of` may be empty: each collective has its own schedule. `shared` may be null.
  ProgramWalk(const Program& program, const Lowered& lowered, Visitor& visitor,
              ScheduleOf schedule_of = {}, Orders* shared = nullptr)
      : lists_(std::make_shared<const ProgramLists>(program, lowered)),
        lowered_(lowered),
        visitor_(visitor),
        schedule_of_(std::move(schedule_of)),
        shared_(shared),
        progress_(*lists_),
        running_(lowered.collectives.size()) {
    if (!has_groups(program))
      return;
    std::vector<bool> waits;
    for (const Collective& collective : lowered.collectives)
      waits.push_back(collective.transfer &&
                      this->schedule_of(collective).extent().entry == Entry::Rendezvous);
    groups_.emplace(program, *lists_, lowered, std::move(waits));
  }

  Stop run() {
    begin();
    return stop();
  }

  /// Walks as far as it can.
  void begin() {
    progress_.begin(*this);
    go_on();
  }

  /// Lets sends to a member go before it has entered, and walks on as far as it can.
  void let_send_to(CollectiveRun run, Node node) {
    const uint32_t slot = running_.slot(run);
    running_[slot].progress->let_send_to(node, halves_);
    take_ready(slot);
    if (groups_)
      begin_members(groups_->let_go(run));
    go_on();
  }

  const ProgramLists& lists() const { return *lists_; }
  const ListProgress& progress() const { return progress_; }
  const std::optional<BeginTogether>& groups() const { return groups_; }

  /// Returns the collectives that some members have entered and that have not ended, by id.
  std::vector<Stop::StuckCollective> stuck() const {
    std::vector<Stop::StuckCollective> stuck;
    running_.for_each_slot([&](uint32_t slot) {
      stuck.push_back({running_.run(slot), running_[slot].progress->parked()});
    });
    return stuck;
  }

  // The callbacks of ListProgress.

  void passed(ListId list, uint64_t position) {
    const Tape& tape = lists_->tape(list);
    const auto [number, iteration] = tape.item_at(position);
    const Instruction& instruction = tape.instructions()[number];
    const OpRun run{instruction.op, iteration};
    switch (instruction.kind) {
      case Instruction::Kind::Local:
        return visitor_.local(run, (*lists_)[list].device);
      case Instruction::Kind::Enter: {
        const auto [id, node] = lists_->member(list, run.op);
        return visitor_.issue(CollectiveRun{id, iteration}, node, run);
      }
      case Instruction::Kind::Wait:
        if (tape.number_begins_op(number))  // a sync collective has a Wait of its own
          visitor_.done(run, (*lists_)[list].device);
    }
  }

  void entered(EnterRef entry) {
    const OpRun op = lists_->tape(entry.list).run_at(entry.enter);
    const auto [id, node] = lists_->member(entry.list, op.op);
    const uint32_t slot = running_.slot({id, op.iteration});
    Running& running = running_[slot];
    const bool held = groups_ && groups_->holds(entry);
    if (running.schedule == nullptr) {
      running.schedule = &schedule_of(lowered_.collective(id));
      running.nodes_left = running.schedule->extent().nodes;
      running.entries.resize(running.schedule->extent().ranks());
      if ((shared_ != nullptr || lists_->tape(entry.list).iterations().runs(op.op) > 1) && !held)
        running.order = (shared_ != nullptr ? *shared_ : orders_).of(*running.schedule);
      if (running.order == nullptr)
        running.progress = std::make_unique<Progress>(*running.schedule);
      else
        incomplete_.push_back(slot);
    }
    running.entries[node.index()] = entry;
    visitor_.enter(running_.run(slot), node, op);
    if (held) {
      begin_members(groups_->enter(entry));
    } else if (running.progress) {
      begin_member(slot, node);
    } else if (++running.entered == running.entries.size()) {
      std::erase(incomplete_, slot);
      complete_.push_back(slot);
    }
  }

 private:
  const Schedule& schedule_of(const Collective& collective) const {
    return schedule_of_ ? schedule_of_(collective) : *collective.schedule;
  }

  void go_on() {
    while (!ended_.empty() || !ready_.empty() || !complete_.empty() || !incomplete_.empty()) {
      if (!ended_.empty()) {
        const Left next = ended_.back();
        ended_.pop_back();
        leave(next.slot, next.node);
      } else if (!ready_.empty()) {
        const Ready next = ready_.back();
        ready_.pop_back();
        run(next.slot, next.half);
      } else if (!complete_.empty()) {
        const uint32_t slot = complete_.back();
        complete_.pop_back();
        run_in_order(slot);
      } else {
        begin_incomplete();
      }
    }
  }

  void run_in_order(uint32_t slot) {
    const CollectiveRun run = running_.run(slot);
    for (const OrderedHalf& each : *running_[slot].order)
      if (each.half == Half::Receive)
        visitor_.receive(run, each.ref, each.step);
      else
        visitor_.send(run, each.ref, each.step);
    for (uint32_t n = running_[slot].nodes_left; n-- > 0;)
      ended_.push_back({slot, Node(n)});
  }

  /// Lets the steps run of collectives that some members have not entered.
  void begin_incomplete() {
    for (const uint32_t slot : std::exchange(incomplete_, {})) {
      Running& running = running_[slot];
      running.progress = std::make_unique<Progress>(*running.schedule);
      for (uint32_t n = 0; n < running.entries.size(); ++n)
        if (running.entries[n])
          begin_member(slot, Node(n));
    }
  }

  void begin_members(const std::vector<EnterRef>& entries) {
    for (const EnterRef& entry : entries)
      begin_member(running_.slot(lists_->run(entry)), lists_->member(entry).node);
  }

  /// Lets the steps run of a member that has entered.
  void begin_member(uint32_t slot, Node node) {
    Progress& progress = *running_[slot].progress;
    progress.enter(node, halves_);
    take_ready(slot);
    if (progress.ended(node))
      ended_.push_back({slot, node});
  }

  void run(uint32_t slot, HalfRef half) {
    Running& running = running_[slot];
    const Step step = running.schedule->step(half.step);
    if (half.half == Half::Receive)
      visitor_.receive(running_.run(slot), half.step, step);
    else
      visitor_.send(running_.run(slot), half.step, step);
    running.progress->retire(half, step, halves_);
    take_ready(slot);
    if (half.half == Half::Send && running.progress->ended(half.step.node))
      ended_.push_back({slot, half.step.node});
  }

  /// Moves the halves of one collective from `halves_` to `ready_`.
  void take_ready(uint32_t slot) {
    for (const HalfRef& half : halves_)
      ready_.push_back({slot, half});
    halves_.clear();
  }

  /// A Ready half, and a Left node, belong to the run in a slot of `running_`.
  struct Ready {
    uint32_t slot = 0;
    HalfRef half;
  };
  struct Left {
    uint32_t slot = 0;
    Node node;
  };

  struct Running {
    const Schedule* schedule = nullptr;
    const std::vector<OrderedHalf>* order = nullptr;  // of a collective in a loop
    std::unique_ptr<Progress> progress;               // of what runs half by half
    std::vector<std::optional<EnterRef>> entries;     // per rank
    uint32_t entered = 0;                             // ranks, before it runs in order
    uint32_t nodes_left = 0;                          // that have steps left, or have not entered
  };

  void leave(uint32_t slot, Node node) {
    Running& running = running_[slot];
    std::optional<EnterRef> entry;  // none of a switch
    if (node.index() < running.entries.size())
      entry = running.entries[node.index()];
    if (entry)
      visitor_.exit(running_.run(slot), node, lists_->tape(entry->list).run_at(entry->enter));
    if (--running.nodes_left == 0)
      running_.erase(slot);
    if (entry)
      progress_.end(*entry, *this);
  }

  Stop stop() { return {lists_, std::move(progress_), stuck(), std::move(groups_)}; }

  std::shared_ptr<const ProgramLists> lists_;
  const Lowered& lowered_;
  Visitor& visitor_;
  ScheduleOf schedule_of_;
  Orders* const shared_;
  ListProgress progress_;
  std::optional<BeginTogether> groups_;
  RunTable<Running> running_;
  Orders orders_;                     // where none are shared
  std::vector<uint32_t> incomplete_;  // slots that wait until all members have entered
  std::vector<uint32_t> complete_;    // those that may run in order
  std::vector<Left> ended_;           // members whose steps have all retired
  std::vector<Ready> ready_;          // halves whose causes are met
  std::vector<HalfRef> halves_;       // the same, of one collective, while it is asked
};

/// Walks a program. `program` and `lowered` must outlive what is returned. `shared` may be null.
template <class Visitor>
Stop walk(const Program& program, const Lowered& lowered, Visitor& visitor,
          Orders* shared = nullptr) {
  return ProgramWalk<Visitor>(program, lowered, visitor, {}, shared).run();
}

}  // namespace orrery
