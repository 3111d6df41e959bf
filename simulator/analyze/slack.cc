#include "simulator/analyze/slack.h"

#include <algorithm>
#include <utility>

#include "models/base/check.h"
#include "simulator/analyze/list_runs.h"
#include "simulator/schedule/causes.h"
#include "simulator/schedule/step_table.h"

namespace orrery {

namespace {

Instant earlier(Instant at, Duration by) {
  return Instant(checked_subtract(at.picoseconds(), by.count()));
}

void limit(Instant& latest, Instant at) {
  latest = std::min(latest, at);
}

/// Computes the latest instant at which each moment and half may happen. Goes through the history
/// backwards, and passes each latest instant on to the causes.
class Backwards {
 public:
  Backwards(const Program& program, const Lowered& lowered, const Completion& completion)
      : lowered_(lowered),
        makespan_(completion.makespan),
        runs_(program, lowered, completion),
        latest_(runs_.size()),
        running_(lowered.collectives.size()),
        slacks_(program.ops.size()) {
    for (uint32_t l = 0; l < runs_.size(); ++l)
      latest_[l].resize(runs_.tape(ListId(l)).size(), {makespan_, makespan_, makespan_});
  }

  std::vector<std::optional<Duration>> run(const History& history) {
    const auto& [halves, moments] = history;
    size_t half = halves.size();
    for (size_t m = moments.size(); m-- > 0;) {
      while (half > moments[m].halves_before)
        undo(halves[--half]);
      undo(moments[m].list, moments[m].moment);
    }
    ORRERY_CHECK(half == 0, "a device enters before its steps run");
    return std::move(slacks_);
  }

 private:
  struct LatestMoments {
    Instant passed;
    Instant entered;
    Instant ended;

    Instant& at(MomentKind kind) {
      return kind == MomentKind::Passed ? passed : kind == MomentKind::Entered ? entered : ended;
    }
  };

  /// A collective that is not yet completely undone.
  struct Running {
    std::vector<EnterRef> entries;  // per node
    std::optional<AllSteps<StepInstants>> steps;
    uint32_t entries_left = 0;
  };

  Instant& latest(ListId list, Moment moment) {
    return latest_[list.index()][moment.instruction].at(moment.kind);
  }

  Running& running(CollectiveId id) {
    Running& running = running_[id.index()];
    if (running.entries_left > 0)
      return running;
    const Schedule& schedule = *lowered_.collective(id).schedule;
    running.entries_left = schedule.extent().nodes;
    for (uint32_t n = 0; n < running.entries_left; ++n)
      running.entries.push_back(runs_.lists().enter_of(id, Node(n)));
    running.steps.emplace(schedule, StepInstants{makespan_, makespan_, makespan_});
    return running;
  }

  Instant& latest_entry(const Running& running, Node node) {
    const EnterRef entry = running.entries[node.index()];
    return latest(entry.list, {MomentKind::Entered, entry.enter});
  }

  void undo(ListId list, Moment moment) {
    const TapeOrder& tape = runs_.tape(list);
    const Instant latest_at = latest(list, moment);
    if (ends_op(tape, moment))
      add_slack(tape[moment.instruction].op, latest_at - runs_.at(list, moment));
    if (moment.kind == MomentKind::Ended)
      return undo_end({list, moment.instruction}, latest_at);
    const std::optional<Moment> last = runs_.last_met(list, moment);
    if (!last)
      return;
    const Duration took = runs_.at(list, moment) - runs_.at(list, *last);
    for_each_cause(tape, moment, [&](Moment cause) {
      limit(latest(list, cause), earlier(latest_at, took));
      return true;
    });
    if (moment.kind == MomentKind::Entered)
      undo_entry({list, moment.instruction});
  }

  void add_slack(OpId op, Duration slack) {
    std::optional<Duration>& least = slacks_[op.index()];
    least = least ? std::min(*least, slack) : slack;
  }

  /// The last steps may be as late as the end, minus the time to copy the result out.
  void undo_end(EnterRef entry, Instant latest_end) {
    const Member member = runs_.lists().member(entry);
    const Instant latest_at = earlier(latest_end, lowered_.collective(member.collective).leave);
    Running& running = this->running(member.collective);
    const Schedule& schedule = *lowered_.collective(member.collective).schedule;
    limit(latest_entry(running, member.node), latest_at);
    for_each_last_step(schedule, schedule.extent(), member.node,
                       [&](StepRef ref) { limit(running.steps->at(ref).sent, latest_at); });
  }

  void undo_entry(EnterRef entry) {
    Running& running = running_[runs_.lists().member(entry).collective.index()];
    if (--running.entries_left == 0)
      running = Running{};
  }

  void undo(const HalfEvent& event) {
    const Schedule& schedule = *lowered_.collective(event.collective).schedule;
    Running& running = this->running(event.collective);
    StepInstants& of_step = running.steps->at(event.step);
    Instant latest_end = of_step.received;
    if (event.half == Half::Send) {
      limit(of_step.sent, earlier(of_step.arrived, event.arrival - event.end));
      latest_end = of_step.sent;
    }
    const Instant latest_begin = earlier(latest_end, event.end - event.begin);
    for_each_cause(schedule, schedule.extent(), event.step, event.half, schedule.step(event.step),
                   [&](const Cause& cause) {
                     limit(latest_of(running, cause), latest_begin);
                     return true;
                   });
  }

  Instant& latest_of(Running& running, const Cause& cause) {
    return cause.kind == CauseKind::Enter ? latest_entry(running, cause.step.node)
                                          : met_at(running.steps->at(cause.step), cause);
  }

  const Lowered& lowered_;
  const Instant makespan_;
  const ListRuns runs_;
  std::vector<std::vector<LatestMoments>> latest_;  // per list and instruction
  std::vector<Running> running_;                    // per collective
  std::vector<std::optional<Duration>> slacks_;     // per op
};

}  // namespace

std::vector<std::optional<Duration>> slacks(const Program& program, const Lowered& lowered,
                                            const Completion& completion, const History& history) {
  return Backwards(program, lowered, completion).run(history);
}

}  // namespace orrery
