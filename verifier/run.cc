#include "verifier/run.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "models/base/compiler.h"
#include "models/base/diagnostics.h"
#include "models/program/holders.h"
#include "models/program/loops.h"
#include "models/program/op.h"
#include "models/program/op_request.h"
#include "models/scenario/fault.h"
#include "models/scenario/quantity_text.h"
#include "models/scenario/scenario.h"
#include "simulator/analyze/critical_path.h"
#include "simulator/analyze/slack.h"
#include "simulator/values/host_executor.h"
#include "verifier/check/checks.h"
#include "verifier/check/names.h"
#include "verifier/check/values.h"
#include "verifier/definition/bounds.h"
#include "verifier/expect/expect.h"
#include "verifier/gpus/gpus.h"
#include "verifier/long_loops.h"
#include "verifier/prove/prover.h"
#include "verifier/ragged/ragged_tables.h"
#include "verifier/report/describe.h"
#include "verifier/stages.h"

namespace orrery {

namespace {

/// Returns the bytes of all values on all devices that have them, and of those in the body of the
/// op with the largest one: bodies are computed one at a time.
Int128 data_size(const Program& program) {
  const Holders holders(program);
  Int128 size = 0;
  for (size_t v = 0; v < program.values.size(); ++v)
    size += Int128{program.values[v].type.size().count()} *
            static_cast<int64_t>(holders.of(ValueId(v)).size());
  Int128 largest_body = 0;
  for (const Op& op : program.ops) {
    if (rules(op.kind).body == nullptr)
      continue;
    Int128 in_body = 0;
    for (const Value& value : body_of(program, op).values)
      in_body += value.type.size().count();
    largest_body = std::max(largest_body, in_body);
  }
  return size + largest_body;
}

bool is_asked_for(const Scenario& scenario, Property asked) {
  return std::any_of(
      scenario.expectations.begin(), scenario.expectations.end(), [&](const Expectation& each) {
        const auto* holds = std::get_if<ExpectHolds>(&each.what);
        return holds != nullptr && std::find(holds->properties.begin(), holds->properties.end(),
                                             asked) != holds->properties.end();
      });
}

StageOptions stage_options(const Scenario& scenario, const FoundTables& tables,
                           const RunOptions& options) {
  StageOptions stages;
  stages.tables = tables.tables;
  stages.limits = options.limits;
  stages.seed = options.seed;
  stages.faults = scenario.faults;
  stages.shared = options.shared;
  stages.replace_schedule = options.replace_schedule;
  stages.memory = scenario.memory;
  stages.slack_budget = options.wanted == Wanted::All ? options.slack_budget : 0;
  stages.only_times = options.wanted == Wanted::Figures;
  // A property that is asked for is shown at any cost. A proof includes the search for races.
  const ProofBudget budget = {options.proof_budget, options.proof_piece_budget};
  const bool proof = is_asked_for(scenario, Property::Proved);
  if (!proof)
    stages.proof = budget;
  if (!proof && !is_asked_for(scenario, Property::RaceFree))
    stages.race_search = budget;
  return stages;
}

/// Returns how the tables of ragged exchanges are found in the form of the scenario that is run.
TableOptions table_options(const ScenarioToRun& to_run, const RunOptions& options) {
  TableOptions tables = orrery::table_options(options);
  tables.too_many_iterations = beyond_limits(to_run.given->program, options.limits);
  return tables;
}

/// For each expectation that the first iterations of loops decide, by index: its check.
using DecidedByFirst = std::map<size_t, Check>;

/// Runs the stages, and puts their results into a report.
class Run {
 public:
  Run(ScenarioToRun scenario, const RunOptions& options, DecidedByFirst by_first)
      : to_run_(std::move(scenario)),
        scenario_(*to_run_.written),
        options_(options),
        tables_(find_tables(scenario_, table_options(to_run_, options))),
        program_(scenario_.program),
        leaves_out_(leaves_out_iterations(program_)),
        by_first_(std::move(by_first)),
        diagnostics_(scenario_.file),
        stages_(program_, scenario_.cluster, stage_options(scenario_, tables_, options),
                diagnostics_,
                to_run_.looped ? std::optional(LoopedProgram{*to_run_.looped, to_run_.runs})
                               : std::nullopt),
        stuck_cores_(stuck_cores(stages_.program_to_run())) {
    diagnostics_.throw_if_any();
    report_.scenario = to_run_.written;
  }

  Report report() {
    report_.memory = stages_.memory();
    if (options_.wanted == Wanted::Figures)
      return figures();
    if (may_end())
      report_.completion = stages_.times();
    diagnostics_.throw_if_any();
    if (wants_all())
      describe_assumptions();
    check_statically();
    if (report_.completion) {
      compute_values();
      digests_.emplace_back(
          report_.completion->by == TimedBy::Sweep ? "timing sweep" : "timing engine",
          WalkDigest{report_.completion->digest, {}});
      if (wants_all())
        describe_times();
      check_digests();
    } else {
      const std::string_view why = !tables_.agree ? "the tables of a ragged exchange do not agree"
                                   : stuck_cores_ && stuck_cores_->verdict == Verdict::Undecided
                                       ? "the program may not end"
                                       : "the program cannot end";
      undecided_ = fmt::format("Undecided: {}.", why);
      if (options_.gpus)
        label(fmt::format("GPUs: not run ({})", why));
    }
    if (tables_.agree)
      prove_schedules();
    check_expectations();
    if (wants_all()) {
      add_rows(scenario_, stages_, report_);
      report_.reshards = reshard_rows(scenario_, lowered(), report_);
      report_.fingerprint = fingerprint(report_);
    }
    return finished();
  }

 private:
  Report figures() {
    const bool timed = !options_.times_if || options_.times_if(report_.memory);
    std::optional<Check> spaces =
        timed ? space_capacity(stages_.program_to_run(), scenario_.cluster.device) : std::nullopt;
    const bool fits = !spaces || spaces->holds();
    if (timed && fits && may_end())
      report_.completion = stages_.times();
    for (const Fault& fault : scenario_.faults)
      report_.labels.push_back(fault_text(fault, stages_.fabric(), options_.seed));
    for (std::string& each : labels_of_figures(scenario_, lowered()))
      report_.labels.push_back(std::move(each));
    for (std::string& each : labels_of_reshards(program_))
      report_.labels.push_back(std::move(each));
    if (!tables_.agree)
      report_.checks = tables_.checks;
    else if (!fits)
      check(std::move(*spaces));
    else if (timed && !report_.completion)
      check_end();
    return finished();
  }

  Report finished() {
    Stages::Kept kept = std::move(stages_).kept();
    report_.lowered = std::make_shared<const Lowered>(std::move(kept.lowered));
    report_.links_of_run = std::move(kept.fabric);
    return std::move(report_);
  }

  const Lowered& lowered() const { return stages_.lowered(); }
  /// Returns whether nothing is known that keeps the program from its end.
  bool may_end() const { return tables_.agree && !stuck_cores_; }
  bool wants_all() const { return options_.wanted == Wanted::All; }

  void check(Check check) {
    report_.verdict = both(report_.verdict, check.verdict);
    report_.checks.push_back(std::move(check));
  }
  void label(std::string text) {
    if (wants_all())
      report_.labels.push_back(std::move(text));
  }
  void label(std::vector<std::string> texts) {
    if (wants_all())
      std::move(texts.begin(), texts.end(), std::back_inserter(report_.labels));
  }

  void describe_assumptions() {
    for (const Fault& fault : scenario_.faults)
      report_.faults.push_back(fault_text(fault, stages_.fabric(), options_.seed));
    label(labels_of_faults(scenario_, stages_.fault_effects()));
    label(labels_of_figures(scenario_, lowered()));
    label(tables_.labels);
    label(labels_of_arrays(scenario_));
    label(labels_of_reshards(program_));
    label(labels_of_connections(scenario_, report_.memory));
    if (leaves_out_ && tables_.agree)
      label(labels_of_loops(*to_run_.given, *options_.most_ops_shown, report_.completion));
  }

  void check_statically() {
    for (const Check& agreed : tables_.checks)
      check(agreed);
    if (tables_.agree) {
      check_end();
      if (!relies_on_buffering() && !stuck_cores_)
        if (auto buffered = sends_unbuffered(program_, lowered(), report_.completion.has_value()))
          check(std::move(*buffered));
    }
    check(order_agreed(program_, lowered()));
    check_streams();
    check_races();
    check(donations_respected(program_));
    check(leak_free(program_));
    check(done_once(program_));
    check(futures_used_by_done(program_));
    if (scenario_.cluster.device.memory)
      check(memory_capacity(program_, report_.memory, *scenario_.cluster.device.memory));
    if (auto spaces = space_capacity(stages_.program_to_run(), scenario_.cluster.device))
      check(std::move(*spaces));
  }

  /// Checks the order of issue across streams. If the hardware is said to run several streams at
  /// the same time, an order that needs it is an assumption.
  void check_streams() {
    auto streams = streams_ordered(program_, lowered());
    if (streams && scenario_.concurrent_streams && !streams->holds())
      label(
          "streams: collectives on two streams of a device make progress at the same time "
          "(concurrent_streams)");
    else if (streams)
      check(std::move(*streams));
  }

  /// Returns whether an expectation says how many messages are buffered. That expectation then
  /// judges it.
  bool relies_on_buffering() const {
    return std::any_of(scenario_.expectations.begin(), scenario_.expectations.end(),
                       [](const Expectation& expectation) {
                         return std::holds_alternative<ExpectBufferedMessages>(expectation.what);
                       });
  }

  void check_races() {
    if (std::optional<Check> race = storage_race(program_))
      return check(std::move(*race));
    if (std::optional<Check> race = race_of_cores(stages_.program_to_run()))
      return check(std::move(*race));
    auto races = race_free(stages_.program_to_run(), stages_.lowered_to_run(), stages_.prover());
    if (auto* verdict = std::get_if<Check>(&races))
      check(std::move(*verdict));
    else
      label(fmt::format("races: not searched in the steps of {} (over the budget)",
                        std::get<NotSearched>(races).ops));
  }

  void check_end() {
    if (stuck_cores_)
      return check(*stuck_cores_);
    if (stages_.fabric().has_cuts())
      check(routes_left(program_, lowered(), stages_.healthy_paths(), stages_.paths()));
    if (report_.completion)
      return check(deadlock_free());
    const Check ends = deadlock_free(program_, lowered(), stages_.stop());
    // With a lost route the program cannot end, so this check is not shown as passed.
    if (stages_.has_routes() || !ends.holds())
      check(ends);
  }

  /// Returns whether an expectation needs values that the first iterations do not have.
  bool needs_values() const {
    for (size_t e = 0; e < scenario_.expectations.size(); ++e)
      if (!compared_values(scenario_.expectations[e]).empty() && by_first_.count(e) == 0)
        return true;
    return false;
  }

  /// Returns why no data is moved; empty if it is. Throws InputError if it is asked for beyond the
  /// limits.
  std::optional<std::string> why_no_values() {
    if (options_.data == Data::Off)
      return "data is off";
    const Int128 size = data_size(stages_.program_to_run());
    const std::string taken = size > std::numeric_limits<int64_t>::max()
                                  ? "2^63 B or more"
                                  : quantity_text(Bytes(static_cast<int64_t>(size)));
    const uint64_t runs = device_ops_with_all_iterations(stages_.program_to_run());
    const uint64_t steps = stages_.lowered_to_run().steps;
    std::string beyond_limit;
    if (size > options_.limits.data && options_.data == Data::On)
      beyond_limit = beyond(options_.limits, &Limits::data, taken);
    else if (leaves_out_ && runs > static_cast<uint64_t>(options_.limits.runs))
      beyond_limit = beyond(options_.limits, &Limits::runs, "more");
    else if (leaves_out_ && steps > static_cast<uint64_t>(options_.limits.steps))
      beyond_limit = beyond(options_.limits, &Limits::steps, "more");
    if (options_.data == Data::On && !beyond_limit.empty())
      throw InputError(scenario_.file, {{{}, beyond_limit}});
    if (options_.data == Data::On)
      return std::nullopt;
    if (leaves_out_ && !to_run_.looped)
      return "iterations of loops are left out";
    if (leaves_out_ && runs > options_.values_budget && !needs_values())
      return fmt::format(
          "they take {} ops on devices and the budget is {}; --data on computes them", runs,
          options_.values_budget);
    if (!beyond_limit.empty())
      return beyond_limit;
    if (size > options_.data_budget.count())
      return fmt::format("they take {} and the budget is {}", taken,
                         quantity_text(options_.data_budget));
    return std::nullopt;
  }

  DeviceValues initial_values() {
    const Program& program = stages_.program_to_run();
    DeviceValues arguments(program);
    const Holders holders(program);
    for (size_t a = 0; a < scenario_.arrays.size(); ++a)
      for (const LogicalId device : holders.of(program.arguments[a].value))
        arguments.at(program.arguments[a].value, device) =
            initial_value(scenario_, scenario_.arrays[a], device, options_.seed);
    return arguments;
  }

  /// Returns the values that are in no loop, as values of the program that is reported.
  DeviceValues reported(DeviceValues made) {
    if (!to_run_.looped)
      return made;
    const Program& program = *to_run_.looped;
    const Holders holders(program);
    DeviceValues result(program_);
    for (size_t v = 0; v < program.values.size(); ++v)
      if (!stages_.lowered_to_run().iterations->loop_of(ValueId(v)))
        for (const LogicalId device : holders.of(ValueId(v)))
          if (std::optional<Tensor> tensor = made.take(ValueId(v), device))
            result.at(to_run_.values[v].value(), device) = std::move(tensor);
    return result;
  }

  void compute_values() {
    const std::optional<std::string> why_not = why_no_values();
    if (why_not) {
      label(fmt::format("values: not computed ({})", *why_not));
      undecided_values_ = fmt::format("Undecided: values were not computed, since {}.", *why_not);
      if (options_.gpus)
        run_on_gpus(false);
      return;
    }
    const auto proved_folds = [&](const Op& op, const Collective& collective) {
      return stages_.prover().folds(op, collective);
    };
    const Program& program = stages_.program_to_run();
    const Lowered& to_run = stages_.lowered_to_run();
    ValuesAgainstDefinitions of_host(program, to_run, proved_folds);
    HostRun run = execute(
        program, to_run, initial_values(), [&](const EndedRun& ended) { of_host.add(ended); },
        &stages_.orders(), options_.kernels);
    digests_.emplace_back("host executor", run.digest);
    report_.values = reported(std::move(run.values));
    if (options_.gpus)
      run_on_gpus(true);
    ValuesAgainstDefinitions of_gpus(program, to_run, proved_folds);
    if (report_.gpus)
      of_gpus.add(*report_.values);
    for (const Check& compared : (report_.gpus ? of_gpus : of_host).checks())
      check(compared);
    for (Check& compared : replicas_equal(program_, *report_.values))
      check(std::move(compared));
  }

  /// Runs the program on GPUs. Their values take the place of the host's, once both were compared.
  void run_on_gpus(bool moves) {
    if (const auto why = why_not_on_gpus(scenario_, report_.memory, leaves_out_)) {
      label("GPUs: not run (" + *why + ")");
      return;
    }
    cuda::GpuRun run =
        orrery::run_on_gpus(scenario_, lowered(), report_.memory,
                            moves ? std::optional(initial_values()) : std::nullopt, *options_.gpus);
    digests_.emplace_back("GPUs", run.digest);
    if (moves) {
      std::vector<OpId> products;
      if (run.facts.dots)
        products = run.facts.dots->by_cublaslt;
      check(gpu_values_agree(program_, lowered(), *report_.values, run.values, products));
      report_.values = std::move(run.values);
    }
    check(arenas_agree(report_.memory, run.facts));
    check(guards_whole(run.facts));
    label(labels_of_gpus(scenario_, run.facts));
    report_.gpus = std::move(run.facts);
  }

  void describe_times() {
    auto path = stages_.critical_path();
    if (const auto* const why_not = std::get_if<std::string>(&path)) {
      report_.no_critical_path = *why_not;
      label("critical path: not computed (" + *why_not + ")");
    } else {
      report_.critical_path = reported(std::get<std::vector<PathEntry>>(path));
    }
    switch (stages_.slack_state()) {
      case SlackState::IterationsLeftOut:
        label("slack: not computed (iterations are left out)");
        break;
      case SlackState::OverBudget:
        label(fmt::format("slack: not computed ({} steps, and the budget is {})", lowered().steps,
                          options_.slack_budget));
        break;
      case SlackState::Computed:
        if (report_.completion->by == TimedBy::Engine)
          label("slack: modelled (messages that share a link keep the time they took)");
    }
  }

  /// Returns the path with the ops of the program that is reported.
  std::vector<OnPath> reported(const std::vector<PathEntry>& path) {
    const Program& program = stages_.program_to_run();
    const Iterations& iterations = *stages_.lowered_to_run().iterations;
    std::map<OpRun, OpId> written;
    if (to_run_.looped)
      for (size_t op = 0; op < to_run_.runs.size(); ++op)
        written.emplace(to_run_.runs[op], op);
    std::vector<OnPath> reported;
    for (const PathEntry& entry : path) {
      const OpRun run{entry.op, entry.iteration};
      const std::string& name = program.op(run.op).name;
      OnPath& on = reported.emplace_back(
          OnPath{entry, iterations.name(name, iterations.loop_of(run.op), run.iteration)});
      // The first iteration is written, so there is one at or before the run.
      if (!written.empty())
        on.entry.op = std::prev(written.upper_bound(run))->second;
    }
    return reported;
  }

  /// Compares several walkers with each other and with the schedules. A single walker's digest
  /// proves nothing, and is only shown.
  void check_digests() {
    if (digests_.size() > 1)
      check(digests_agree(
          whole_digest(stages_.program_to_run(), stages_.lowered_to_run(), stages_.digests()),
          digests_));
    else
      report_.digest = report_.completion->digest.value();
  }

  void prove_schedules() {
    const Program& program = stages_.program_to_run();
    for (size_t s = 0; s < program.sites.size(); ++s) {
      if (!program.sites[s].absent.empty())
        continue;  // it never ends: nothing is made of its elements
      if (stages_.lowered_to_run().iterations->runs(program.sites[s].ops.front()) == 0)
        continue;
      auto proof = stages_.prover().prove_site(SiteId(s));
      if (auto* verdict = std::get_if<Check>(&proof))
        check(std::move(*verdict));
      else
        label_unproved(SiteId(s), std::get<NotProved>(proof));
    }
  }

  void label_unproved(SiteId site, NotProved because) {
    const Program& program = stages_.program_to_run();
    const std::string& name = program.op(program.site(site).ops.front()).name;
    const uint64_t steps = stages_.prover().steps(site);
    if (because == NotProved::TooManySteps)
      label(fmt::format("\"{}\": not proved ({} steps, and the budget is {})", name, steps,
                        options_.proof_budget));
    else
      label(fmt::format("\"{}\": not proved ({} steps that move more than {} pieces, the budget)",
                        name, steps, options_.proof_piece_budget));
  }

  RoundedBy rounded_by() const {
    const bool by_cublaslt =
        report_.gpus && report_.gpus->dots && !report_.gpus->dots->by_cublaslt.empty();
    return by_cublaslt ? RoundedBy::CublasLt : RoundedBy::Orrery;
  }

  void check_expectations() {
    const std::string undecided = undecided_.empty() ? undecided_values_ : undecided_;
    const std::vector<Check> so_far = report_.checks;
    const bool counts_all =
        std::ranges::any_of(scenario_.expectations,
                            [](const Expectation& each) {
                              return std::holds_alternative<ExpectBufferedMessages>(each.what);
                            }) &&
        device_ops_with_all_iterations(stages_.program_to_run()) <= kMostWalkedRuns &&
        stages_.lowered_to_run().steps <= static_cast<uint64_t>(options_.limits.steps);
    const Evidence evidence{scenario_,
                            lowered(),
                            counts_all ? stages_.program_to_run() : program_,
                            counts_all ? stages_.lowered_to_run() : lowered(),
                            report_.memory,
                            report_.completion,
                            report_.values,
                            [this] { return bounds_of_values(); },
                            undecided,
                            so_far,
                            leaves_out_};
    Expectations expectations(evidence);
    for (size_t e = 0; e < scenario_.expectations.size(); ++e) {
      const auto first = by_first_.find(e);
      const bool is_decided = report_.completion && first != by_first_.end();
      check(is_decided ? first->second : expectations.check(scenario_.expectations[e]));
    }
  }

  /// Returns the error bounds of the report's values.
  DeviceValues bounds_of_values() {
    if (!to_run_.looped)
      return error_bounds(program_, lowered(), *report_.values, rounded_by());
    return reported(error_bounds_of_run(*to_run_.looped, stages_.lowered_to_run(), initial_values(),
                                        options_.kernels));
  }

  const ScenarioToRun to_run_;
  const Scenario& scenario_;  // with its iterations
  const RunOptions& options_;
  const FoundTables tables_;
  const Program& program_;
  const bool leaves_out_;
  const DecidedByFirst by_first_;
  Diagnostics diagnostics_;
  Stages stages_;
  const std::optional<Check> stuck_cores_;  // an mpmd_map that cannot end, or may not
  Report report_;
  std::vector<std::pair<std::string, WalkDigest>> digests_;
  std::string undecided_;         // says why nothing is known that needs an end
  std::string undecided_values_;  // says why there are no values
};

/// First iterations are run beside the whole program if they have at most this many ops over all
/// devices. They are then all written.
constexpr uint64_t kFirstOps = 200'000;

/// Adds the checks of the expectations that a run of first iterations decides.
void decide(FirstIterations first, const RunOptions& options, DecidedByFirst& decided) {
  RunOptions without_gpus = options;
  without_gpus.gpus.reset();
  without_gpus.most_ops_shown = kFirstOps;
  const Report report = run(std::move(first.scenario), without_gpus);
  if (!report.values)
    return;
  // The checks of expectations come last, in order.
  const size_t begin = report.checks.size() - first.decided.size();
  for (size_t i = 0; i < first.decided.size(); ++i)
    decided.insert_or_assign(first.decided[i], report.checks[begin + i]);
}

/// Judges the expectations on values of first iterations by a run of these alone. They may have
/// more than kFirstOps ops if that leaves no expectation for which all iterations must be run, and
/// takes at most half of the time.
DecidedByFirst decided_by_first_iterations(const ScenarioToRun& to_run, const RunOptions& options) {
  DecidedByFirst decided;
  if (!to_run.looped || options.data == Data::Off)
    return decided;
  const Scenario& given = *to_run.given;
  if (std::optional<FirstIterations> first = first_iterations(given, kFirstOps, options.limits))
    decide(*std::move(first), options, decided);
  const auto on_values = static_cast<size_t>(std::ranges::count_if(
      given.expectations,
      [](const Expectation& expectation) { return !compared_values(expectation).empty(); }));
  if (decided.size() == on_values || options.data == Data::On)
    return decided;
  Limits not_written = options.limits;
  not_written.ops = not_written.device_ops = std::numeric_limits<int64_t>::max();
  const uint64_t half = device_ops_with_all_iterations(given.program) / 2;
  std::optional<FirstIterations> first = first_iterations(
      given, std::min(half, static_cast<uint64_t>(options.limits.runs)), not_written);
  if (first && first->decided.size() == on_values)
    decide(*std::move(first), options, decided);
  return decided;
}

}  // namespace

TableOptions table_options(const RunOptions& options) {
  TableOptions tables;
  tables.seed = options.seed;
  tables.budget = options.data == Data::On ? Bytes(options.limits.data) : options.data_budget;
  if (options.data == Data::Off)
    tables.assume = TableOptions::Assume::WhereGiven;
  return tables;
}

std::shared_ptr<SharedWork> shared_work(const SharedWork* other) {
  auto work = std::make_shared<SharedWork>();
  if (other != nullptr) {
    work->schedules = other->schedules;
    work->times = other->times;
  }
  return work;
}

std::string too_large(const Overflow& overflow) {
  if (dynamic_cast<const BeyondLimit*>(&overflow) != nullptr)
    return overflow.what();
  return fmt::format("expected less than 2^63 B and 2^63 ps (106 days), but {}", overflow.what());
}

Report run(std::shared_ptr<const Scenario> given, const RunOptions& options) {
  constexpr size_t kMostShared = 512;  // schedules; some are stored, in up to 1.7 MiB each
  if (options.shared != nullptr && options.shared->schedules->size() > kMostShared)
    options.shared->forget_schedules();
  if (options.gpus)
    loaded_driver(options.gpus->library);  // what is missing is said before anything else
  if (options.gpus && options.gpus->fast_dot)
    loaded_cublaslt(options.gpus->cublaslt);
  given = with_thresholds(std::move(given), options);
  const WantedIterations iterations = {options.most_ops_shown, options.data == Data::On};
  ScenarioToRun to_run = with_iterations(std::move(given), options.limits, iterations);
  if (const TableOptions tables = table_options(to_run, options);
      tables.too_many_iterations.empty() && need_all_iterations(*to_run.written, tables))
    to_run = with_iterations(to_run.given, options.limits, {std::nullopt, iterations.for_values});
  const std::shared_ptr<const Scenario> scenario = to_run.written;
  try {
    DecidedByFirst by_first = decided_by_first_iterations(to_run, options);
    return Run(std::move(to_run), options, std::move(by_first)).report();
  } catch (const OpOverflow& overflow) {
    const Op& op = scenario->program.op(overflow.op());
    const Origin at = origin_of(op.name, op.origin);
    throw InputError(scenario->file,
                     {{at, fmt::format("{}: {}{}", op_title(op), too_large(overflow), at.note)}});
  } catch (const KeyOverflow& overflow) {
    throw InputError(scenario->file, {{overflow.key(), overflow.what()}});
  } catch (const Overflow& overflow) {
    throw InputError(scenario->file, {{{}, too_large(overflow)}});
  } catch (const cuda::TooLittleMemory& little) {
    throw TooLittleGpuMemory(little.what());
  } catch (const cuda::UnfitGpu& unfit) {
    throw NoGpus(unfit.what());
  } catch (const cuda::CudaError& error) {
    throw GpuFailure(driver_failed(error));
  } catch (const cuda::CublasLtError& error) {
    throw NoFastDot(fmt::format("cuBLASLt failed in {}", error.what()));
  }
}

Report run(Scenario scenario, const RunOptions& options) {
  return run(std::make_shared<const Scenario>(std::move(scenario)), options);
}

}  // namespace orrery
