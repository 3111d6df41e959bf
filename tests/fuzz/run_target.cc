#include <string>

#include "models/base/check.h"
#include "models/base/diagnostics.h"
#include "models/program/loops.h"
#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "simulator/lower/lower.h"
#include "simulator/time/engine.h"
#include "tests/fuzz/targets.h"
#include "verifier/check/names.h"
#include "verifier/run.h"

namespace orrery::test {

namespace {

Report run_small(const Scenario& scenario) {
  RunOptions options;
  options.data_budget = Bytes(kFuzzLimits.data);
  options.limits = kFuzzLimits;
  return run(scenario, options);
}

/// Aborts where the executors disagree, which is a bug of ours, whatever the program is.
void check_ours(const Report& report) {
  for (const Check& check : report.checks)
    for (const CheckKind kind :
         {CheckKind::ScheduleDigest, CheckKind::ScheduleProved, CheckKind::ValuesOracle})
      ORRERY_CHECK(check.verdict != Verdict::Fails || check.name != info(kind).name,
                   "our own executors are right");
}

void compare_with_engine(const Report& report) {
  const Scenario& scenario = *report.scenario;
  const Completion& completion = *report.completion;
  Diagnostics diagnostics("f");
  Lowered lowered =
      lower(scenario.program, scenario.cluster, diagnostics, {}, report.lowered->tables);
  const Fabric& healthy = scenario.cluster.fabric;
  const FaultEffects fault_effects =
      apply_faults(scenario.faults, scenario.program, healthy, RunOptions().seed, lowered);
  EngineOptions options;
  options.device_start = fault_effects.device_start;
  const Completion simulated = simulate(
      scenario.program, lowered, fault_effects.fabric ? *fault_effects.fabric : healthy, options);
  ORRERY_CHECK(simulated.spans == completion.spans && simulated.makespan == completion.makespan &&
                   simulated.digest == completion.digest,
               "sweep and engine agree");
}

}  // namespace

void fuzz_run(std::string_view text) {
  std::string written;
  std::string fingerprint;
  try {
    const Scenario scenario = read_scenario("f", text, kFuzzLimits);
    const Report report = run_small(scenario);
    check_ours(report);
    Scenario whole = *report.scenario;
    if (leaves_out_iterations(whole.program))
      return;  // too long for the further checks
    if (report.completion && report.completion->by == TimedBy::Sweep)
      compare_with_engine(report);
    written = write_scenario(whole);
    whole.program.written_loops.clear();  // the written scenario has no loops
    fingerprint = run_small(whole).fingerprint;
  } catch (const InputError& error) {
    ORRERY_CHECK(!error.diagnostics().empty(), "a refusal says why");
    return;
  }
  // The text may exceed kFuzzLimits now, but the scenario does not.
  ORRERY_CHECK(run_small(read_scenario("f", written)).fingerprint == fingerprint,
               "what was written and read again runs as it did");
}

}  // namespace orrery::test
