#include "verifier/stages.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "models/program/loops.h"
#include "models/program/unroll.h"
#include "simulator/analyze/slack.h"
#include "simulator/lower/lower.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/walk.h"
#include "verifier/long_loops.h"
#include "verifier/loop_times.h"

namespace orrery {
namespace {

/// Restores the object at the end of the scope.
template <class T>
class Restored {
 public:
  explicit Restored(T& object) : object_(object), before_(object) {}
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;
  ~Restored() { object_ = std::move(before_); }

 private:
  T& object_;
  T before_;
};

}  // namespace

Stages::Stages(const Program& program, const Cluster& cluster, StageOptions options,
               Diagnostics& diagnostics)
    : program_(program),
      cluster_(cluster),
      options_(std::move(options)),
      diagnostics_(diagnostics),
      leaves_out_(leaves_out_iterations(program)),
      healthy_paths_(cluster.fabric),
      lowered_(lower(program, cluster, healthy_paths_, diagnostics, options_.limits,
                     options_.memory.transport, options_.tables)) {
  if (!diagnostics.empty())
    return;
  fault_effects_ = apply_faults(options_.faults, program_, cluster.fabric, options_.seed, lowered_);
  if (fault_effects_.fabric)
    faulty_paths_.emplace(*fault_effects_.fabric);
}

void Stages::lengthen(OpId op, std::span<const Duration> by) {
  LocalTime& time = lowered_.local[op.index()];
  if (time.by_device.empty())
    time.by_device.assign(by.size(), time.common);
  for (size_t device = 0; device < by.size(); ++device)
    time.by_device[device] += by[device];
}

bool Stages::has_routes() {
  if (!has_routes_) {
    const std::span<const Link> links = fabric().links();
    has_routes_ =
        std::none_of(links.begin(), links.end(), [](const Link& link) { return link.cut; }) ||
        !first_unrouted(lowered_, paths());
  }
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

const std::optional<Completion>& Stages::times() {
  if (!times_) {
    std::optional<Completion> times;
    if (has_routes()) {
      TimeOptions options;
      options.most_state = options_.limits.state;
      options.device_start = fault_effects_.device_start;
      if (slack_state() == SlackState::Computed)
        options.history = &history_;
      times = leaves_out_ ? time_long_loops()
                          : time_program(program_, lowered_, paths(), demands(), options);
    }
    times_ = std::move(times);
  }
  return *times_;
}

std::optional<Completion> Stages::time_long_loops() {
  TimeOptions options;
  options.device_start = fault_effects_.device_start;
  options.most_state = options_.limits.state;
  options.most_runs = options_.limits.runs;
  const LocalLoops local_loops(program_, lowered_);
  std::variant<Completion, std::string> swept;
  {
    const Restored<std::vector<LocalTime>> local(lowered_.local);
    for (const auto& [op, longer] : local_loops.longer())
      lengthen(op, longer);
    swept = time_by_sweep(local_loops.shortened(), lowered_, paths(), demands(), options);
  }
  if (auto* completion = std::get_if<Completion>(&swept)) {
    local_loops.correct(*completion);
    return std::move(*completion);
  }
  // Iterations wait for earlier ones only, and each kind of wait occurs in a written one. So a walk
  // of these tells whether the program ends.
  if (!stop().finished())
    return std::nullopt;
  return time_loops_by_engine(
      has_jitter_of_ops(options_.faults) ? LocalLoops(program_) : local_loops, cluster_, options_,
      std::get<std::string>(swept), diagnostics_);
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

std::vector<PathEntry> Stages::critical_path() {
  return orrery::critical_path(program_, lowered_, times().value());
}

HostRun Stages::values(DeviceValues arguments) const {
  return execute(program_, lowered_, std::move(arguments));
}

Prover& Stages::prover() {
  if (!prover_)
    prover_.emplace(program_, lowered_, options_.proof, options_.race_search);
  return *prover_;
}

TimeAndMemory time_and_memory(const Program& program, const Cluster& cluster,
                              Diagnostics& diagnostics, StageOptions options) {
  if (!program.loops.empty()) {
    const Unrolled written = unrolled(program, LongLoops::LeftOut);
    return time_and_memory(written.program, cluster, diagnostics, std::move(options));
  }
  options.slack_budget = 0;
  Stages stages(program, cluster, std::move(options), diagnostics);
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
