#include "simulator/time/completion.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "models/base/check.h"
#include "simulator/event/recording.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/schedule/sliced_schedule.h"
#include "simulator/time/engine.h"
#include "simulator/time/state_budget.h"
#include "simulator/time/sweep.h"

namespace orrery {

Instant instant_of(const OpSpan& span, const ProgramLists& lists, ListId list, Moment moment) {
  const Instruction& instruction = lists.tape(list)[moment.position];
  if (moment.kind == MomentKind::Entered)
    return lists.collective({list, moment.position}).entry(span.entered);
  // The compute stream passes an Enter as soon as it reaches it.
  const bool enters = instruction.kind == Instruction::Kind::Enter;
  return moment.kind == MomentKind::Passed && enters ? span.start : span.end;
}

namespace {

/// Runs `timed(EventLog*)`, and records the run if `history` is not null.
template <class Timed>
auto with_history(History* history, Timed&& timed) {
  if (history == nullptr)
    return timed(nullptr);
  decltype(timed(nullptr)) result;
  record_into(*history, [&](EventLog& log) { result = timed(&log); });
  return result;
}

bool any_repeats(const Lowered& lowered) {
  constexpr uint32_t kMany = 4;  // iterations
  return std::any_of(
      lowered.collectives.begin(), lowered.collectives.end(), [](const Collective& collective) {
        const auto* const cut = dynamic_cast<const SlicedSchedule*>(collective.schedule);
        return cut != nullptr && cut->alike_iterations() > kMany;
      });
}

/// Returns whether many runs of collectives may be alike: each schedule runs several times.
bool many_may_be_alike(const Lowered& lowered) {
  uint64_t runs = 0;
  std::set<const Schedule*> schedules;
  for (const Collective& collective : lowered.collectives) {
    runs += collective.times;
    schedules.insert(collective.schedule);
  }
  return runs >= 2 * schedules.size() && runs > 1;
}

/// Returns the options of an executor, with those that both executors have.
template <class Options>
Options options_of(const TimeOptions& options, EventLog* log) {
  Options of_executor;
  of_executor.device_start = options.device_start;
  of_executor.log = log;
  of_executor.most_state = options.most_state;
  of_executor.wanted = options.wanted;
  return of_executor;
}

/// Returns the sweep's completion, or why the sweep is not exact; its timeline may show that first.
std::variant<Completion, std::string> time_by_sweep(const Program& program, const Lowered& lowered,
                                                    Paths& paths, const Demands& demands,
                                                    const TimeOptions& options) {
  std::optional<std::string> shared = sweep_refusal(demands, paths.fabric());
  if (shared && options.history == nullptr && many_may_be_alike(lowered)) {
    SweepOptions apart = options_of<SweepOptions>(options, nullptr);
    apart.apart = &demands;
    apart.only_times = options.only_times;
    apart.alone = options.alone;
    auto swept = sweep(program, lowered, paths, apart);
    if (auto* completion = std::get_if<Completion>(&swept)) {
      completion->because = completion->by == TimedBy::Sweep
                                ? "no link is asked for more than its capacity"
                                : *std::move(shared);
      return swept;
    }
  }
  // The engine adds up the iterations of a cut schedule, which a check of the timeline must see.
  if (shared && options.only_times && any_repeats(lowered))
    return *std::move(shared);
  auto swept = with_history(options.history, [&](EventLog* log) {
    SweepOptions of_sweep = options_of<SweepOptions>(options, log);
    of_sweep.only_times = options.only_times;
    if (shared)
      of_sweep.check_capacity = &demands;
    return sweep(program, lowered, paths, of_sweep);
  });
  if (auto* completion = std::get_if<Completion>(&swept))
    completion->because = "no link is asked for more than its capacity";
  else if (shared)
    std::get<std::string>(swept) = std::move(*shared);
  return swept;
}

}  // namespace

std::optional<Completion> time_program(const Program& program, const Lowered& lowered, Paths& paths,
                                       const Demands& demands, const TimeOptions& options) {
  std::variant<Completion, std::string> swept;
  try {
    swept = time_by_sweep(program, lowered, paths, demands, options);
  } catch (const TooMuchState&) {
    // The sweep keeps room for as many steps of every channel. The engine keeps only the steps that
    // each channel has.
    swept = "the sweep takes more memory than the limit allows";
  }
  if (auto* completion = std::get_if<Completion>(&swept))
    return std::move(*completion);
  std::optional<Completion> completion = with_history(options.history, [&](EventLog* log) {
    return simulate_if_it_ends(program, lowered, paths, demands,
                               options_of<EngineOptions>(options, log));
  });
  if (completion)
    completion->because = std::get<std::string>(std::move(swept));
  return completion;
}

Completion run_time(const Program& program, const Lowered& lowered, Paths& paths,
                    const Demands& demands, const std::vector<Instant>& device_start) {
  std::optional<Completion> completion =
      time_program(program, lowered, paths, demands, {device_start});
  ORRERY_CHECK(completion.has_value(), "the program ends");
  return std::move(*completion);
}

void record(const Program& program, const Lowered& lowered, Paths& paths, const Demands& demands,
            const Completion& completion, EventLog& log) {
  ORRERY_CHECK(completion.not_kept.empty(), "a recording has every run");
  Completion again;
  if (completion.by == TimedBy::Sweep) {
    SweepOptions options;
    options.device_start = completion.device_start;
    options.log = &log;
    again = std::get<Completion>(sweep(program, lowered, paths, options));
  } else {
    EngineOptions options;
    options.device_start = completion.device_start;
    options.log = &log;
    again = simulate(program, lowered, paths, demands, options);
  }
  log.flush();
  ORRERY_CHECK(again.spans == completion.spans && again.digest == completion.digest,
               "what is recorded is what was timed");
}

Completion run_time(const Program& program, const Lowered& lowered, const Fabric& fabric,
                    const std::vector<Instant>& device_start) {
  Paths paths(fabric);
  return run_time(program, lowered, paths, demands(lowered, paths), device_start);
}

void record(const Program& program, const Lowered& lowered, const Fabric& fabric,
            const Completion& completion, EventLog& log) {
  Paths paths(fabric);
  record(program, lowered, paths, demands(lowered, paths), completion, log);
}

}  // namespace orrery
