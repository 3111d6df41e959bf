#include "simulator/time/completion.h"

#include <optional>
#include <utility>
#include <variant>

#include "models/base/check.h"
#include "simulator/time/engine.h"
#include "simulator/time/sweep.h"

namespace orrery {

Instant instant_of(const std::vector<std::vector<OpSpan>>& spans, const ProgramLists& lists,
                   ListId list, Moment moment) {
  const Instruction& instruction = lists.tape(list)[moment.instruction];
  const OpSpan& span = spans[instruction.op.index()][lists[list].place];
  if (moment.kind == MomentKind::Entered)
    return span.start;
  // The compute stream goes past an Enter as soon as it reaches it.
  const bool enters = instruction.kind == Instruction::Kind::Enter;
  return moment.kind == MomentKind::Passed && enters ? span.reached : span.end;
}

Completion run_time(const Program& program, const Lowered& lowered, Paths& paths,
                    const Demands& demands, const std::vector<Instant>& device_start) {
  std::optional<std::string> forced = sweep_refusal(demands, paths.fabric());
  if (!forced) {
    std::variant<Completion, std::string> swept = sweep(program, lowered, paths, {device_start});
    if (auto* completion = std::get_if<Completion>(&swept)) {
      completion->because = "no link is asked for more than its capacity";
      return std::move(*completion);
    }
    forced = std::get<std::string>(std::move(swept));
  }
  EngineOptions options;
  options.device_start = device_start;
  Completion completion = simulate(program, lowered, paths, demands, options);
  completion.because = std::move(*forced);
  return completion;
}

void record(const Program& program, const Lowered& lowered, Paths& paths, const Demands& demands,
            const Completion& completion, EventLog& log) {
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
