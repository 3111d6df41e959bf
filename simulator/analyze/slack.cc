#include "simulator/analyze/slack.h"

#include <algorithm>
#include <memory>
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

/// It keeps the latest instants in a collective that is not yet completely undone.
class LatestSteps {
 public:
  /// `latest_entries` points to the latest entry of each rank.
  LatestSteps(const Schedule& schedule, std::vector<Instant*> latest_entries, Instant makespan)
      : schedule_(schedule),
        extent_(schedule.extent()),
        latest_entries_(std::move(latest_entries)),
        steps_(schedule, {makespan, makespan, makespan}) {}

  /// Allows the last steps of the rank to be as late as `at`.
  void limit_end(Node node, Instant at) {
    limit(*latest_entries_[node.index()], at);
    for_each_cause_of_end(schedule_, extent_, node, [&](const Cause& cause) {
      limit(met_at(steps_.at(cause.step), cause), at);
    });
  }

  void undo(const HalfTook& half) {
    StepInstants& of_step = steps_.at(half.step);
    if (half.sends)
      limit(of_step.sent, earlier(of_step.arrived, half.flight));
    const Instant latest_begin = earlier(half.sends ? of_step.sent : of_step.received, half.took);
    for_each_cause(schedule_, extent_, half.step, half.sends ? Half::Send : Half::Receive,
                   schedule_.step(half.step), [&](const Cause& cause) {
                     limit(cause.kind == CauseKind::Enter
                               ? *latest_entries_[cause.step.node.index()]
                               : met_at(steps_.at(cause.step), cause),
                           latest_begin);
                     return true;
                   });
  }

 private:
  const Schedule& schedule_;
  const Extent& extent_;
  const std::vector<Instant*> latest_entries_;
  AllSteps<StepInstants> steps_;
};

/// It computes the latest instant at which each moment and half may happen. It goes through the
/// history backwards, and passes each latest instant on to the causes.
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
      while (half > moments[m].halves_before) {
        const HalfTook& last = halves[--half];
        running(CollectiveId(last.collective)).steps->undo(last);
      }
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
    std::unique_ptr<LatestSteps> steps;
    uint32_t entries_left = 0;
  };

  Instant& latest(ListId list, Moment moment) {
    return latest_[list.index()][moment.position].at(moment.kind);
  }

  Running& running(CollectiveId id) {
    Running& running = running_[id.index()];
    if (running.entries_left == 0)
      begin_to_undo(id, running);
    return running;
  }

  void begin_to_undo(CollectiveId id, Running& running) {
    const Schedule& schedule = *lowered_.collective(id).schedule;
    running.entries_left = schedule.extent().ranks();
    std::vector<Instant*> entries;
    entries.reserve(running.entries_left);
    for (uint32_t n = 0; n < running.entries_left; ++n) {
      const EnterRef entry = runs_.lists().enter_of(id, Node(n));
      entries.push_back(&latest(entry.list, {MomentKind::Entered, entry.enter}));
    }
    running.steps = std::make_unique<LatestSteps>(schedule, std::move(entries), makespan_);
  }

  void undo(ListId list, Moment moment) {
    const Tape& tape = runs_.tape(list);
    const Instant latest_at = latest(list, moment);
    const Instant at = runs_.at(list, moment);
    if (ends_op(tape, moment))
      add_slack(tape[moment.position].op, latest_at - at);
    if (moment.kind == MomentKind::Ended)
      return undo_end({list, moment.position}, latest_at);
    std::optional<Instant> last;  // of its causes
    for_each_cause(tape, moment, [&](Moment cause) {
      last = std::max(last, std::optional(runs_.at(list, cause)));
      return true;
    });
    if (!last)
      return;
    for_each_cause(tape, moment, [&](Moment cause) {
      limit(latest(list, cause), earlier(latest_at, at - *last));
      return true;
    });
    if (moment.kind == MomentKind::Entered)
      undo_entry({list, moment.position});
  }

  void add_slack(OpId op, Duration slack) {
    std::optional<Duration>& least = slacks_[op.index()];
    least = least ? std::min(*least, slack) : slack;
  }

  /// Allows the last steps to be as late as the end, minus the time to copy the result out.
  void undo_end(EnterRef entry, Instant latest_end) {
    const Member member = runs_.lists().member(entry);
    const Instant latest_at = lowered_.collective(member.collective).steps_end(latest_end);
    running(member.collective).steps->limit_end(member.node, latest_at);
  }

  void undo_entry(EnterRef entry) {
    Running& running = running_[runs_.lists().member(entry).collective.index()];
    if (--running.entries_left == 0)
      running = Running{};
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
