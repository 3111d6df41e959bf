#include "tests/verifier/long_loops_rig.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/loops.h"
#include "simulator/analyze/device_times.h"
#include "simulator/network/demand.h"
#include "simulator/time/engine.h"
#include "simulator/time/sweep.h"
#include "verifier/run.h"

namespace orrery::test {

namespace {

StageOptions with_faults(std::vector<Fault> faults) {
  StageOptions options;
  options.slack_budget = 0;
  options.limits.steps = std::numeric_limits<int64_t>::max();  // loops are long
  options.faults = std::move(faults);
  return options;
}

std::vector<int64_t> bytes_of(const Demands& demands) {
  std::vector<int64_t> bytes;
  for (const Demand& link : demands.links)
    bytes.push_back(static_cast<int64_t>(link.bytes));
  return bytes;
}

/// `Said` is what a run reports of a program, however many of its iterations the program shows.
struct Said {
  std::string fingerprint;
  std::map<std::string, bool> checks;  // whether all of each name hold
  friend bool operator==(const Said&, const Said&) = default;
};

Said said_of(const std::string& text, const std::vector<Fault>& faults,
             std::optional<uint64_t> most_ops_shown) {
  Scenario scenario = read_scenario("f", text);
  scenario.faults = faults;
  RunOptions options;
  options.data = Data::Off;
  options.proof_budget = 0;
  options.slack_budget = 0;
  options.most_ops_shown = most_ops_shown;
  const Report report = run(std::move(scenario), options);
  Said said{report.fingerprint, {}};
  for (const Check& check : report.checks)
    said.checks.emplace(check.name, true).first->second &= check.holds();
  return said;
}

/// Checks that reports agree, whether iterations are left out or written out.
void check_same_said(const std::string& text, const std::vector<Fault>& faults) {
  constexpr uint64_t kMany = 1'000'000'000;
  const Said folded = said_of(text, faults, 0);
  for (const std::optional<uint64_t> budget : {std::optional(kMany), std::optional<uint64_t>()}) {
    const Said all = said_of(text, faults, budget);
    CHECK(folded.fingerprint == all.fingerprint);
    CHECK(folded.checks == all.checks);
  }
}

void check_same_sums(const Completion& skipping, const Completion& all) {
  CHECK(skipping.makespan == all.makespan);
  CHECK(skipping.messages == all.messages);
  CHECK(skipping.digest == all.digest);
}

/// Checks the sums where no run's times are wanted, so that iterations may be skipped from the
/// first ones on. They must be those of a run of all iterations.
void check_without_kept_runs(Stages& stages) {
  const Program& program = stages.program_to_run();
  const Lowered& lowered = stages.lowered_to_run();
  const Demands asked = demands(lowered, stages.paths());
  const std::vector<OpRun> none;
  if (!sweep_refusal(asked, stages.fabric())) {
    SweepOptions options;
    options.device_start = stages.fault_effects().device_start;
    const auto all = sweep(program, lowered, stages.paths(), options);
    options.wanted.kept = &none;
    const auto skipping = sweep(program, lowered, stages.paths(), options);
    REQUIRE(skipping.index() == all.index());
    if (const auto* completion = std::get_if<Completion>(&all))
      check_same_sums(std::get<Completion>(skipping), *completion);
  }
  if (sweep_refusal(asked, stages.fabric())) {
    SweepOptions options;
    options.device_start = stages.fault_effects().device_start;
    options.apart = &asked;
    const auto all = sweep(program, lowered, stages.paths(), options);
    options.wanted.kept = &none;
    const auto skipping = sweep(program, lowered, stages.paths(), options);
    // In skipped iterations a link counts as used between its uses, so more is refused.
    if (const auto* completion = std::get_if<Completion>(&skipping)) {
      REQUIRE(all.index() == 0);
      check_same_sums(*completion, std::get<Completion>(all));
    }
  }
  for (const bool share_all_links : {false, true}) {
    CAPTURE(share_all_links);
    EngineOptions options;
    options.device_start = stages.fault_effects().device_start;
    options.share_all_links = share_all_links;
    const auto all = simulate_if_it_ends(program, lowered, stages.paths(), asked, options);
    options.wanted.kept = &none;
    const auto skipping = simulate_if_it_ends(program, lowered, stages.paths(), asked, options);
    REQUIRE(skipping.has_value() == all.has_value());
    if (all)
      check_same_sums(*skipping, *all);
  }
}

/// A Stretch is a part of the critical path that an op took.
struct Stretch {
  OpId op;  // of the regions
  uint32_t device = 0;
  int64_t end = 0;
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

/// Checks that the paths are the same, stretch by stretch.
void check_same_path(Timed& few, Timed& all) {
  const auto ours = few.stages.critical_path();
  const auto theirs = all.stages.critical_path();
  REQUIRE(ours.index() == 0);
  REQUIRE(theirs.index() == 0);
  std::map<Instant, Stretch> stretches;  // by when they start
  std::map<Instant, uint64_t> iterations;
  for (const PathEntry& entry : std::get<0>(ours)) {
    const OpId op = leaves_out_iterations(few.scenario.program)
                        ? entry.op
                        : few.written.runs[entry.op.index()].op;
    std::vector<Duration> later = {Duration()};
    for (const PathEntry::Round& round : entry.rounds) {
      const std::vector<Duration> first = later;
      for (uint64_t t = 1; t < round.times; ++t)
        for (const Duration each : first)
          later.push_back(each + round.every * static_cast<int64_t>(t));
    }
    for (const Duration each : later)
      stretches.emplace(entry.start + each,
                        Stretch{op, entry.device.index(), (entry.end + each).picoseconds()});
    iterations.emplace(entry.start, entry.iteration);
  }
  REQUIRE(stretches.size() == std::get<0>(theirs).size());
  for (const PathEntry& entry : std::get<0>(theirs)) {
    const OpRun run = all.written.runs[entry.op.index()];
    CAPTURE(entry.start.picoseconds());
    REQUIRE(stretches.contains(entry.start));
    REQUIRE(stretches.at(entry.start) ==
            Stretch{run.op, entry.device.index(), entry.end.picoseconds()});
    if (iterations.contains(entry.start) && leaves_out_iterations(few.scenario.program))
      REQUIRE(iterations.at(entry.start) == run.iteration);
  }
}

/// Checks that runs that are kept have the same spans if there is no room for those of other runs.
void check_kept_alone(Timed& few) {
  const Program& program = few.stages.program_to_run();
  const Lowered& lowered = few.stages.lowered_to_run();
  std::vector<OpRun> kept = few.written.runs;
  std::ranges::sort(kept);
  TimeOptions options;
  options.device_start = few.stages.fault_effects().device_start;
  options.wanted = {&kept, 0};
  const auto timed = time_program(program, lowered, few.stages.paths(),
                                  demands(lowered, few.stages.paths()), options);
  REQUIRE(timed.has_value());
  CHECK(timed->spans.has_all() == program.loops.empty());
  CHECK(timed->spans.of_runs(few.written.runs) == few.stages.times()->spans);
}

}  // namespace

std::string scenario_text(const std::string& cluster, const std::string& program) {
  return R"({"orrery": 1, "cluster": {"devices": 4, )" + cluster + R"(},
    "mesh": {"x": 2, "y": 2},
    "arrays": {"a": {"shape": [4096], "dtype": "f32", "spec": [["x", "y"]]}},
    "check_types": false, )" +
         program + "}";
}

std::string loop(const std::string& id, int64_t trips, const std::string& carry,
                 const std::string& body, const std::string& yield) {
  return fmt::format(R"({{"id": "{}", "op": "fori_loop", "lower": 0, "upper": {}, "carry": {{{}}},
                         "body": [{}], "yield": {{{}}}}})",
                     id, trips, carry, body, yield);
}

std::string inner_loop() {
  return loop("m", 40, R"("g": "h")",
              R"({"id": "t", "op": "psum", "of": "g", "axis_name": "x"},
                 {"id": "u", "op": "add", "of": ["t", "a"]})",
              R"("g": "u")");
}

Fault slow(uint32_t device, int64_t times, int64_t by) {
  return SlowDevice{LogicalId(device), Factor(kOnce.count() * times / by)};
}

Timed::Timed(const std::string& text, LongLoops long_loops, std::vector<Fault> faults)
    : given(read_scenario("f", text)),
      written(orrery::written(given, long_loops)),
      looped(with_sites(given.program, written.scenario.program, written.runs)),
      scenario(written.scenario),
      stages(scenario.program, scenario.cluster, with_faults(std::move(faults)), diagnostics,
             looped ? std::optional(LoopedProgram{*looped, written.runs}) : std::nullopt) {}

Outcome check_same(const std::string& text, const std::vector<Fault>& faults) {
  CAPTURE(text);
  check_same_said(text, faults);
  Timed few(text, LongLoops::LeftOut, faults);
  Timed all(text, LongLoops::WrittenOut, faults);
  REQUIRE(few.diagnostics.empty());
  REQUIRE(all.diagnostics.empty());
  const std::optional<Completion>& ours = few.stages.times();
  const std::optional<Completion>& theirs = all.stages.times();
  REQUIRE(few.diagnostics.empty());
  REQUIRE(ours.has_value() == theirs.has_value());
  CHECK(few.stages.lowered().steps == all.stages.lowered().steps);
  CHECK(bytes_of(few.stages.demands()) == bytes_of(all.stages.demands()));
  for (size_t t = 0; t < few.stages.memory().lists.size(); ++t)
    CHECK(few.stages.memory().lists[t].peak == all.stages.memory().lists[t].peak);
  if (!ours)
    return {};
  check_without_kept_runs(few.stages);
  CHECK(ours->makespan == theirs->makespan);
  CHECK(ours->messages == theirs->messages);
  check_same_path(few, all);
  if (leaves_out_iterations(few.scenario.program))
    check_kept_alone(few);
  CHECK(device_times(few.scenario.program, few.stages.lowered(), *ours) ==
        device_times(all.scenario.program, all.stages.lowered(), *theirs));
  std::map<std::string, size_t> by_name;
  for (size_t op = 0; op < all.scenario.program.ops.size(); ++op)
    by_name.emplace(all.scenario.program.ops[op].name, op);
  for (size_t op = 0; op < few.scenario.program.ops.size(); ++op) {
    CAPTURE(few.scenario.program.ops[op].name);
    REQUIRE(std::ranges::equal(ours->spans[op],
                               theirs->spans[by_name.at(few.scenario.program.ops[op].name)]));
  }
  Outcome outcome{leaves_out_iterations(few.scenario.program), 0, 0, 0, ours->by};
  for (const WrittenLoop& each : few.scenario.program.written_loops)
    if (each.left_out() > 0)
      outcome.left_out_period = std::max(outcome.left_out_period, each.period);
  for (const AddedIterations& each : ours->added) {
    outcome.added += each.count;
    if (each.count > 0)
      outcome.longest_period = std::max(outcome.longest_period, each.every);
  }
  return outcome;
}

}  // namespace orrery::test
