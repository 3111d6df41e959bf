#include "verifier/loop_times.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/program/loops.h"
#include "models/program/op_overflow.h"
#include "simulator/schedule/loop_iterations.h"
#include "simulator/time/engine.h"
#include "simulator/time/loop_watch.h"
#include "simulator/time/state_budget.h"
#include "verifier/long_loops.h"

namespace orrery {

namespace {

// Iterations that are run to find out how they repeat: first so many besides those that a
// program has in any case, then times as many, up to a limit.
constexpr uint64_t kFirstTried = 16;
constexpr uint64_t kTimesAsMany = 4;
constexpr uint64_t kMostTried = 4096;

/// What is timed.
struct Subject {
  const Cluster& cluster;
  const StageOptions& options;
  const LocalLoops& local_loops;
  const std::string& because;  // why by the engine
};

/// A program with all iterations, as it is run.
struct Written {
  WrittenOut all;
  Stages stages;

  Written(const Program& program, const Subject& subject, Diagnostics& diagnostics)
      : all(written_out(program)),
        stages(all.program, subject.cluster, options_for(program, all, subject.options),
               diagnostics) {
    const auto& longer = subject.local_loops.longer();
    for (size_t op = 0; op < all.program.ops.size() && diagnostics.empty(); ++op)
      if (const auto found = longer.find(all.copy_of[op]); found != longer.end())
        stages.lengthen(OpId(op), found->second);
  }

  static StageOptions options_for(const Program& program, const WrittenOut& all,
                                  StageOptions options) {
    options.slack_budget = 0;
    const RaggedTables tables = std::exchange(options.tables, {});
    for (size_t s = 0; s < all.program.sites.size(); ++s) {
      const OpId of = all.copy_of[all.program.sites[s].ops.front().index()];
      if (const auto found = tables.find(*program.op(of).site); found != tables.end())
        options.tables.emplace(SiteId(s), found->second);
    }
    return options;
  }
};

/// Runs `timed`, whose errors name ops that only a written out program has.
template <class Timed>
std::optional<Completion> with_errors_translated(Diagnostics& diagnostics, Timed&& timed) {
  try {
    return timed();
  } catch (const TooMuchState& too_much) {
    diagnostics.add(too_much.what());
    return std::nullopt;
  } catch (const OpOverflow& overflow) {
    throw Overflow(overflow.what());
  }
}

/// The times of the ops of `program`, from those of all its iterations.
Completion folded(const Program& program, const WrittenOut& all, Completion completion) {
  std::vector<bool> shown(all.program.ops.size(), false);
  std::vector<std::vector<OpSpan>> spans(program.ops.size());
  std::vector<std::vector<OpTime>> left_out(program.ops.size());
  for (size_t op = 0; op < program.ops.size(); ++op) {
    const size_t now = all.op_of[op].index();
    shown[now] = true;
    left_out[op].resize(completion.spans[now].size());
    spans[op] = std::move(completion.spans[now]);
  }
  for (size_t op = 0; op < all.program.ops.size(); ++op) {
    if (shown[op])
      continue;
    std::vector<OpTime>& runs = left_out[all.copy_of[op].index()];
    const std::vector<OpSpan>& of_op = completion.spans[op];
    for (size_t device = 0; device < of_op.size(); ++device)
      runs[device] += time_of(of_op[device]);
  }
  completion.spans = std::move(spans);
  completion.left_out = std::move(left_out);
  completion.added.resize(program.written_loops.size());
  completion.held_up_by.clear();
  return completion;
}

/// Runs fewer iterations, and adds the others as repetitions (loop_watch.h).
class ByRepetition {
 public:
  ByRepetition(const Program& program, const Subject& subject, Diagnostics& diagnostics)
      : program_(program), subject_(subject), diagnostics_(diagnostics) {
    for (LoopGroup& loops : outer_loop_groups(program)) {
      const WrittenLoop& loop = program.written_loops[loops.front()];
      Group group;
      group.trips = loop.trips();
      group.run = loop.written.size() + loop.window + kFirstTried;
      group.loops = std::move(loops);
      if (2 * group.run < group.trips)
        groups_.push_back(std::move(group));
    }
  }

  /// Empty if it is not known that the iterations repeat, or after an error.
  std::optional<Completion> times() {
    const std::optional<Completion> fewer = find_periods();
    if (!fewer)
      return std::nullopt;
    Completion all = *fewer;
    for (const Group& group : groups_) {
      if (!group.shortened())
        continue;
      const std::optional<Completion> longer =
          run(with_trips(shortened(), group.loops, group.run + group.period.iterations));
      if (!longer)
        return std::nullopt;
      add(group, *fewer, *longer, all);
    }
    all.makespan = Instant();
    for (const std::vector<OpSpan>& of_op : all.spans)
      for (const OpSpan& span : of_op)
        all.makespan = std::max(all.makespan, span.end);
    return all;
  }

 private:
  struct Group {
    LoopGroup loops;
    uint64_t trips = 0;
    uint64_t run = 0;  // how many of them are run
    LoopPeriod period;
    std::optional<LoopWatch> watch = {};

    bool shortened() const { return run < trips; }
    void run_more() {
      run *= kTimesAsMany;
      if (2 * run >= trips)
        run = trips;
    }
    void run_all() { run = trips; }
  };

  Program shortened() const {
    Program program = program_;
    for (const Group& group : groups_)
      program = with_trips(std::move(program), group.loops, group.run);
    return program;
  }

  /// Runs so many iterations of each group that they repeat before its end, and that those left out
  /// are whole periods. While one group runs, the others are at a fixed iteration. So each group
  /// repeats at a time of its own.
  std::optional<Completion> find_periods() {
    while (true) {
      if (std::none_of(groups_.begin(), groups_.end(),
                       [](const Group& group) { return group.shortened(); }))
        return std::nullopt;
      std::optional<Completion> completion = run(shortened(), true);
      if (!completion)
        return std::nullopt;
      bool found = true;
      for (Group& group : groups_)
        if (group.shortened())
          found = settle(group) && found;
      if (found)
        return completion;
    }
  }

  /// Whether the run just made is enough for the group; else it gets more iterations.
  static bool settle(Group& group) {
    if (!group.watch) {
      group.run_all();
      return false;
    }
    const std::optional<LoopPeriod>& period = group.watch->period();
    if (!period) {
      group.run_more();
      return false;
    }
    const uint64_t rest = (group.trips - group.run) % period->iterations;
    group.run += rest;
    group.period = *period;
    return rest == 0;
  }

  std::optional<Completion> run(const Program& program, bool watched = false) {
    if (!beyond_limits(program, subject_.options.limits).empty() ||
        std::any_of(groups_.begin(), groups_.end(),
                    [](const Group& group) { return group.shortened() && group.run > kMostTried; }))
      return std::nullopt;
    Written written(program, subject_, diagnostics_);
    if (!diagnostics_.empty())
      return std::nullopt;
    EngineOptions options;
    options.device_start = written.stages.fault_effects().device_start;
    options.most_state = subject_.options.limits.state;
    if (watched)
      options.watches = watches(written);
    std::optional<Completion> completion = with_errors_translated(diagnostics_, [&] {
      return simulate_if_it_ends(written.all.program, written.stages.lowered(),
                                 written.stages.paths(), written.stages.demands(), options);
    });
    if (!completion)
      return std::nullopt;
    return folded(program, written.all, std::move(*completion));
  }

  /// The watches of the groups that are shortened and whose iterations are alike.
  std::vector<LoopWatch*> watches(const Written& written) {
    const Program& whole = written.all.program;
    const ProgramLists lists(whole, written.stages.lowered());
    std::map<std::pair<std::string_view, int64_t>, size_t> whole_loops;  // by name and first index
    for (size_t w = 0; w < whole.written_loops.size(); ++w)
      whole_loops.emplace(std::pair<std::string_view, int64_t>(whole.written_loops[w].name,
                                                               whole.written_loops[w].lower),
                          w);
    std::vector<LoopWatch*> watches;
    for (Group& group : groups_) {
      group.watch.reset();
      if (!group.shortened())
        continue;
      std::vector<size_t> loops;
      for (const size_t l : group.loops)
        loops.push_back(
            whole_loops.at({program_.written_loops[l].name, program_.written_loops[l].lower}));
      const WrittenLoop& loop = program_.written_loops[group.loops.front()];
      // From here on, all iterations that one names are copies too.
      const size_t first = loop.window_begin() + loop.window - 1;
      if (std::optional<LoopIterations> iterations =
              LoopIterations::find(whole, written.stages.lowered(), lists, loops, first))
        watches.push_back(&group.watch.emplace(std::move(*iterations), loop.window));
    }
    return watches;
  }

  /// Each of the group's periods makes the same difference, which `longer` has once.
  static void add(const Group& group, const Completion& fewer, const Completion& longer,
                  Completion& all) {
    const uint64_t left_out = group.trips - group.run;
    const uint64_t periods = left_out / group.period.iterations;
    const auto times = static_cast<int64_t>(periods);
    const auto later = [&](Instant more, Instant less) {
      const Duration by = more - less;
      ORRERY_CHECK(by == Duration() || by == group.period.later, "a period is added at one time");
      return by * times;
    };
    for (size_t op = 0; op < all.spans.size(); ++op)
      for (size_t device = 0; device < all.spans[op].size(); ++device) {
        const OpSpan& less = fewer.spans[op][device];
        const OpSpan& more = longer.spans[op][device];
        OpSpan& span = all.spans[op][device];
        span.start = span.start + later(more.start, less.start);
        span.entered = span.entered + later(more.entered, less.entered);
        span.end = span.end + later(more.end, less.end);
        const OpTime& less_time = fewer.left_out[op][device];
        const OpTime& more_time = longer.left_out[op][device];
        OpTime& time = all.left_out[op][device];
        time.from_start += (more_time.from_start - less_time.from_start) * times;
        time.from_entered += (more_time.from_entered - less_time.from_entered) * times;
      }
    all.messages += (longer.messages - fewer.messages) * periods;
    all.digest.add(longer.digest.repeated(periods));
    all.digest.add(fewer.digest.repeated(uint64_t{0} - periods));
    for (const size_t l : group.loops)
      all.added[l] = {left_out, group.period.iterations, group.period.later};
  }

  const Program& program_;
  const Subject& subject_;
  Diagnostics& diagnostics_;
  std::vector<Group> groups_;  // that may be shortened
};

/// The times of a program whose local loops are shortened.
std::optional<Completion> time_shortened(const Program& program, const Subject& subject,
                                         Diagnostics& diagnostics) {
  if (std::optional<Completion> completion = ByRepetition(program, subject, diagnostics).times()) {
    completion->because = subject.because;
    return completion;
  }
  if (!diagnostics.empty())
    return std::nullopt;
  if (const std::string over = beyond_limits(program, subject.options.limits); !over.empty()) {
    diagnostics.add("loops whose messages share links are run in full where no period is found: " +
                    over);
    return std::nullopt;
  }
  Written written(program, subject, diagnostics);
  if (!diagnostics.empty())
    return std::nullopt;
  std::optional<Completion> completion =
      with_errors_translated(diagnostics, [&] { return written.stages.times(); });
  if (!completion)
    return std::nullopt;
  return folded(program, written.all, std::move(*completion));
}

}  // namespace

std::optional<Completion> time_loops_by_engine(const LocalLoops& local_loops,
                                               const Cluster& cluster, const StageOptions& options,
                                               const std::string& because,
                                               Diagnostics& diagnostics) {
  const Subject subject{cluster, options, local_loops, because};
  std::optional<Completion> completion =
      time_shortened(local_loops.shortened(), subject, diagnostics);
  if (completion)
    local_loops.correct(*completion);
  return completion;
}

}  // namespace orrery
