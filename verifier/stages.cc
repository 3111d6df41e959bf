#include "verifier/stages.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/program/loops.h"
#include "models/program/op.h"
#include "models/program/unroll.h"
#include "models/scenario/cluster_json.h"
#include "simulator/analyze/slack.h"
#include "simulator/lower/lower.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/walk.h"
#include "verifier/long_loops.h"

namespace orrery {
Stages::Stages(const Program& program, const Cluster& cluster, StageOptions options,
               Diagnostics& diagnostics, std::optional<LoopedProgram> looped)
    : program_(program),
      cluster_(cluster),
      options_(std::move(options)),
      leaves_out_(leaves_out_iterations(program)),
      looped_(looped),
      shared_(options_.shared == nullptr ? std::make_shared<SharedWork>() : options_.shared),
      schedules_(shared_->schedules),
      quiet_times_(quiet_times()),
      healthy_paths_(cluster.fabric),
      lowered_(lower(program, cluster, healthy_paths_, diagnostics, options_.limits,
                     options_.memory.transport, options_.tables, schedules_.get(),
                     options_.replace_schedule, quiet_times_.get())) {
  if (!diagnostics.empty())
    return;
  fault_effects_ = apply_faults(options_.faults, program_, cluster.fabric, options_.seed, lowered_);
  if (fault_effects_.fabric)
    faulty_paths_.emplace(*fault_effects_.fabric);
}

std::shared_ptr<QuietTimes> Stages::quiet_times() const {
  // A transport of the memory policy replaces that of the cluster.
  if (!options_.only_times || options_.shared == nullptr || options_.memory.transport)
    return nullptr;
  const auto key = [&](const Cluster& cluster) {
    return fmt::format("{} {} {}", options_.limits.steps, options_.limits.state,
                       cluster_text(cluster).lines());
  };
  // Only figures on which collectives depend tell clusters apart.
  Cluster cluster = cluster_;
  cluster.name.clear();
  cluster.sources.clear();
  cluster.device.memory.reset();
  cluster.device.memory_bandwidth.reset();
  cluster.device.memory_share = {};
  cluster.device.flops.clear();
  cluster.device.efficiency.clear();
  return shared_->times->of_cluster.get(key(cluster), [&] {
    const Cluster only_fabric{"", cluster_.fabric, {}};
    auto times = std::make_shared<QuietTimes>();
    times->alone = shared_->times->of_fabric.get(key(only_fabric),
                                                 [] { return std::make_shared<AloneTimes>(); });
    return times;
  });
}

bool Stages::has_routes() {
  if (!has_routes_)
    has_routes_ = !fabric().has_cuts() || !first_unrouted(lowered_, paths());
  return *has_routes_;
}

const Demands& Stages::demands() {
  if (!demands_)
    demands_ = orrery::demands(lowered_, has_routes() ? paths() : healthy_paths_);
  return *demands_;
}

const MemoryProfile& Stages::memory() {
  if (!memory_)
    memory_ = profile(program_, lowered_, options_.memory);
  return *memory_;
}

TimeOptions Stages::time_options() const {
  TimeOptions options;
  options.device_start = fault_effects_.device_start;
  options.most_state = options_.limits.state;
  options.wanted.most_timed = options_.limits.runs;
  options.wanted.most_steps = options_.limits.steps;
  options.only_times = options_.only_times;
  if (options_.only_times)
    options.wanted.most_in_loops = 0;
  options.alone =
      quiet_times_ == nullptr || fault_effects_.fabric ? nullptr : quiet_times_->alone.get();
  return options;
}

const std::optional<Completion>& Stages::times() {
  if (!times_) {
    std::optional<Completion> times;
    if (has_absent(program_)) {
      times = std::nullopt;  // it cannot end, even where nobody waits for the member
    } else if (has_groups(program_) && !stop().finished()) {
      times = std::nullopt;  // times follow each message by itself, and groups begin together
    } else if (has_routes() && leaves_out_) {
      times = time_looped();
    } else if (has_routes()) {
      TimeOptions options = time_options();
      if (slack_state() == SlackState::Computed)
        options.history = &history_;
      times = time_program(program_, lowered_, paths(), demands(), options);
    }
    times_ = std::move(times);
  }
  return *times_;
}

namespace {

/// Returns the tables of the sites of a looped program. All iterations of a site have the same
/// tables.
RaggedTables looped_tables(const Program& program, const LoopedProgram& looped,
                           const RaggedTables& tables) {
  RaggedTables of_looped;
  for (size_t op = 0; op < program.ops.size(); ++op)
    if (const std::optional<SiteId> site = program.ops[op].site)
      if (const auto found = tables.find(*site); found != tables.end())
        of_looped.emplace(*looped.program.op(looped.runs[op].op).site, found->second);
  return of_looped;
}

}  // namespace

const Lowered& Stages::lowered_to_run() {
  if (!looped_)
    return lowered_;
  if (!lowered_loops_) {
    Diagnostics none("");
    lowered_loops_ =
        lower(looped_->program, cluster_, healthy_paths_, none, options_.limits,
              options_.memory.transport, looped_tables(program_, *looped_, options_.tables),
              schedules_.get(), options_.replace_schedule, quiet_times_.get());
    ORRERY_CHECK(none.empty(), "what is lowered with some iterations is lowered with all");
    (void)apply_faults(options_.faults, looped_->program, cluster_.fabric, options_.seed,
                       *lowered_loops_);
  }
  return *lowered_loops_;
}

std::optional<Completion> Stages::time_looped() {
  if (!looped_) {
    // The walk without all iterations is right about the end: each kind of wait occurs in a written
    // iteration.
    if (!stop().finished())
      return std::nullopt;
    const auto loop = std::ranges::find_if(program_.written_loops, &WrittenLoop::left_out);
    throw BeyondLimit(OpId(loop->last().ops.begin),
                      "every iteration is timed where a site joins ops of different iterations, or "
                      "of a loop and outside of it: " +
                          beyond(options_.limits, &Limits::ops, "more"));
  }
  const Lowered& lowered = lowered_to_run();
  std::vector<OpRun> kept = looped_->runs;
  std::sort(kept.begin(), kept.end());
  TimeOptions options = time_options();
  options.wanted.kept = &kept;
  // Errors name ops of the program that is reported.
  const auto reported = [&](OpId looped) {
    const auto run = std::find_if(looped_->runs.rbegin(), looped_->runs.rend(),
                                  [&](const OpRun& each) { return each.op == looped; });
    ORRERY_CHECK(run != looped_->runs.rend(), "each op has an iteration that is written");
    return OpId(static_cast<size_t>(looped_->runs.rend() - run) - 1);
  };
  std::optional<Completion> times;
  try {
    times = time_program(looped_->program, lowered, paths(), orrery::demands(lowered, paths()),
                         options);
  } catch (const BeyondLimit& beyond) {
    throw BeyondLimit(reported(beyond.op()), beyond.what());
  } catch (const OpOverflow& overflow) {
    throw OpOverflow(reported(overflow.op()), overflow.what());
  }
  if (!times)
    return times;
  OpSpans spans = std::move(times->spans);
  looped_times_ = *times;
  looped_times_->spans = std::move(spans);
  times->spans = looped_times_->spans.of_runs(looped_->runs);
  std::vector<std::vector<OpTime>> not_kept;
  std::map<OpId, size_t> last;  // of the runs that are written
  for (size_t op = 0; op < program_.ops.size(); ++op) {
    const OpRun& run = looped_->runs[op];
    not_kept.emplace_back(times->spans[op].size());
    size_t& latest = last.emplace(run.op, op).first->second;
    if (looped_->runs[latest].iteration <= run.iteration)
      latest = op;
  }
  for (const auto& [looped, op] : last)
    not_kept[op] = times->not_kept[looped.index()];
  times->not_kept = std::move(not_kept);
  return times;
}

const Stop& Stages::stop() {
  if (!stop_) {
    NoVisitor visitor;
    stop_ = walk(program_, lowered_, visitor);
  }
  return *stop_;
}

SlackState Stages::slack_state() const {
  if (leaves_out_)
    return SlackState::IterationsLeftOut;
  return lowered_.steps > options_.slack_budget ? SlackState::OverBudget : SlackState::Computed;
}

const std::vector<std::optional<Duration>>& Stages::slacks() {
  if (!slacks_) {
    slacks_.emplace();
    if (times() && slack_state() == SlackState::Computed)
      *slacks_ = orrery::slacks(program_, lowered_, **times_, history_);
    history_ = {};
  }
  return *slacks_;
}

std::variant<std::vector<PathEntry>, std::string> Stages::critical_path() {
  const Completion& timed = leaves_out_ ? looped_times_.value() : times().value();
  if (!timed.spans.has_all())
    return fmt::format("more than {} runs of ops in loops were timed one by one",
                       WantedSpans().most_in_loops);
  auto path = leaves_out_ ? orrery::critical_path(looped_->program, lowered_to_run(), timed)
                          : orrery::critical_path(program_, lowered_, timed);
  if (!path)
    return fmt::format("it goes through more than {} instructions of loops", kMostPathSteps);
  return *std::move(path);
}

Prover& Stages::prover() {
  if (!prover_)
    prover_.emplace(program_to_run(), lowered_to_run(), options_.proof, options_.race_search,
                    shared_->known);
  return *prover_;
}

TimeAndMemory time_and_memory(const Program& program, const Cluster& cluster,
                              Diagnostics& diagnostics, StageOptions options) {
  std::optional<Unrolled> written;
  std::optional<Program> sites;
  if (!program.loops.empty()) {
    written = unrolled(program, LongLoops::LeftOut);
    sites = with_sites(program, written->program, written->runs);
    if (!sites && beyond_limits(program, options.limits).empty())
      written = unrolled(program, LongLoops::WrittenOut);
  }
  const auto looped = sites ? std::optional(LoopedProgram{*sites, written->runs}) : std::nullopt;
  options.slack_budget = 0;
  Stages stages(written ? written->program : program, cluster, std::move(options), diagnostics,
                looped);
  TimeAndMemory result;
  if (!diagnostics.empty())
    return result;
  if (const std::optional<Completion>& times = stages.times())
    result.makespan = times->makespan - Instant();
  const MemoryProfile& memory = stages.memory();
  for (const std::optional<size_t>& kind : memory.kind_of)
    result.peaks.push_back(kind ? memory.kinds[*kind].peak : Bytes());
  return result;
}

}  // namespace orrery
