#pragma once

// Walks a whole program without time: every device runs its list and every collective its schedule,
// each half after its causes. No cause is a choice, so one order decides for all timings: a program
// that does not end here cannot end at all.

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
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
template <class Visitor, class Concrete>
class ProgramWalk {
 public:
  ProgramWalk(const Program& program, const Lowered& lowered, Visitor& visitor, Concrete concrete)
      : lists_(std::make_shared<const ProgramLists>(program, lowered)),
        lowered_(lowered),
        visitor_(visitor),
        concrete_(concrete),
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
    running_[id.index()].steps->let_send_to(node);
    go_on();
  }

  const ProgramLists& lists() const { return *lists_; }
  const ListProgress& progress() const { return progress_; }

  /// The collectives that some members have entered and that have not ended, by id.
  std::vector<Stop::StuckCollective> stuck() const {
    std::vector<Stop::StuckCollective> stuck;
    for (size_t c = 0; c < running_.size(); ++c)
      if (running_[c].steps)
        stuck.push_back({CollectiveId(c), running_[c].steps->parked()});
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
    if (!running.steps) {
      const Schedule& schedule = *lowered_.collective(id).schedule;
      running.steps = concrete_(schedule, [&, id = id](const auto& own) -> std::unique_ptr<Steps> {
        return std::make_unique<StepsOf<std::remove_cvref_t<decltype(own)>>>(own, id, *this);
      });
      running.nodes_left = schedule.extent().nodes;
      running.entries.resize(schedule.extent().ranks());
    }
    running.entries[node.index()] = entry;
    visitor_.enter(id, node, lists_->op(entry));
    running.steps->enter(node);
  }

 private:
  void go_on() {
    while (!ended_.empty() || !ready_.empty()) {
      if (!ended_.empty()) {
        const Member member = ended_.back();
        ended_.pop_back();
        leave(member);
      } else {
        const Ready next = ready_.back();
        ready_.pop_back();
        running_[next.collective.index()].steps->run(next.half);
      }
    }
  }

  struct Ready {
    CollectiveId collective;
    HalfRef half;
  };

  /// The steps of a running collective. Its schedule may be of any class.
  struct Steps {
    virtual ~Steps() = default;
    virtual void enter(Node node) = 0;
    virtual void run(HalfRef half) = 0;
    virtual void let_send_to(Node node) = 0;
    virtual std::vector<Parked> parked() const = 0;
  };
  template <class S>
  class StepsOf final : public Steps {
   public:
    StepsOf(const S& schedule, CollectiveId id, ProgramWalk& walk)
        : schedule_(schedule), id_(id), walk_(walk), progress_(schedule) {}

    void enter(Node node) override {
      progress_.enter(node, [&](HalfRef half) { walk_.ready_.push_back({id_, half}); });
      if (progress_.ended(node))
        walk_.ended_.push_back({id_, node});
    }
    // Flattened for step() and the causes: without, 20 all-reduces of 1 KiB over 64 ranks, with
    // their values, run 26% more instructions (g++ 12, callgrind, 2026-11-22).
    [[gnu::flatten]] void run(HalfRef half) override {
      const Step step = schedule_.step(half.step);
      if (half.half == Half::Receive)
        walk_.visitor_.receive(id_, half.step, step);
      else
        walk_.visitor_.send(id_, half.step, step);
      progress_.retire(half, [&](HalfRef next) { walk_.ready_.push_back({id_, next}); });
      if (half.half == Half::Send && progress_.ended(half.step.node))
        walk_.ended_.push_back({id_, half.step.node});
    }
    void let_send_to(Node node) override {
      progress_.let_send_to(node, [&](HalfRef half) { walk_.ready_.push_back({id_, half}); });
    }
    std::vector<Parked> parked() const override { return progress_.parked(); }

   private:
    const S& schedule_;
    const CollectiveId id_;
    ProgramWalk& walk_;
    Progress<S, Arrival::WithSend> progress_;
  };
  struct Running {
    std::unique_ptr<Steps> steps;   // from the first entry until all nodes have ended
    std::vector<EnterRef> entries;  // per rank
    uint32_t nodes_left = 0;        // that have steps left, or have not entered
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
  Concrete concrete_;
  ListProgress progress_;
  std::vector<Running> running_;  // per collective
  std::vector<Member> ended_;     // members whose steps have all retired
  std::vector<Ready> ready_;      // halves whose causes are met
};

/// `concrete` is with_concrete (simulator/algorithm/concrete.h): each schedule is walked as its own
/// class. `program` and `lowered` must outlive what is returned.
template <class Visitor, class Concrete>
Stop walk(const Program& program, const Lowered& lowered, Visitor& visitor, Concrete concrete) {
  return ProgramWalk<Visitor, Concrete>(program, lowered, visitor, concrete).run();
}

}  // namespace orrery
