#include "verifier/plan/point.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/base/compiler.h"
#include "models/base/diagnostics.h"
#include "models/program/loops.h"
#include "models/program/op_rules.h"
#include "models/program/rules.h"
#include "simulator/analyze/list_runs.h"
#include "simulator/lower/local_cost.h"
#include "simulator/schedule/durations.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/tape.h"

namespace orrery {
namespace {

/// Says what kind of memory each held buffer is.
class Kinds {
 public:
  Kinds(const Program& program, std::span<const PlanKind> kinds)
      : program_(program), kinds_(kinds), values_(values_by_name(program)) {
    for (const Op& op : program.ops) {
      for (const ValueId result : op.results)
        makers_.emplace(program.value(result).buffer, &op);
      if (op.pass != Pass::Forward)
        for (const ValueId operand : op.operands)
          read_backward_.insert(program.value(operand).buffer);
    }
  }

  std::string of(const Held& held) const {
    if (held.kind == HeldAs::Argument)
      return of_argument(held.value);
    if (held.kind == HeldAs::Scratch)
      return "scratch";
    const std::string otherwise = held.kind == HeldAs::Output ? "outputs" : "temporaries";
    const auto value = values_.find(held.value);
    if (value == values_.end())
      return otherwise;  // of iterations that are left out
    const BufferId buffer = program_.value(value->second).buffer;
    const auto maker = makers_.find(buffer);
    if (maker == makers_.end())
      return otherwise;
    const Op& op = *maker->second;
    if (is_gather(op.kind) && held.kind != HeldAs::Output)
      return "gathered";
    if (op.pass != Pass::Forward)
      return op.pass == Pass::Again ? "recomputed" : "gradients";
    return held.kind != HeldAs::Output && read_backward_.contains(buffer) ? "activations"
                                                                          : otherwise;
  }

 private:
  static bool is_gather(OpKind kind) {
    return kind == OpKind::AllGather || kind == OpKind::AllGatherInvariant ||
           kind == OpKind::AllGatherReduced;
  }

  std::string of_argument(std::string_view name) const {
    for (const PlanKind& kind : kinds_)
      for (const std::string& pattern : kind.patterns)
        if (matches(name, pattern))
          return kind.name;
    const size_t letters = name.find_first_of("_.0123456789");
    return letters == std::string_view::npos || letters == 0
               ? std::string(name)
               : fmt::format("{}*", name.substr(0, letters + (name[letters] == '_' ? 1 : 0)));
  }

  const Program& program_;
  const std::span<const PlanKind> kinds_;
  const std::map<std::string_view, ValueId> values_;
  std::map<BufferId, const Op*> makers_;  // the first op that writes each buffer
  std::set<BufferId> read_backward_;
};

std::vector<MemoryOfKind> by_kind(const Program& program, std::span<const PlanKind> kinds,
                                  const DeviceMemory& memory) {
  const Kinds kind_of(program, kinds);
  std::map<std::string, Bytes> sums;
  for (const Held& held : memory.live_at_peak)
    sums[kind_of.of(held)] += held.size;
  if (memory.transport > Bytes())
    sums["transport"] += memory.transport;
  if (memory.reserved > memory.transport)
    sums["reserved"] += memory.reserved - memory.transport;
  std::vector<MemoryOfKind> sorted;
  for (const auto& [kind, bytes] : sums)
    sorted.push_back({kind, bytes});
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const MemoryOfKind& a, const MemoryOfKind& b) { return a.bytes > b.bytes; });
  return sorted;
}

/// Returns the patterns that match no argument, in the order of the plan: "\"w_*\" of weights".
std::vector<std::string> unmatched(const Program& program, std::span<const PlanKind> kinds) {
  std::vector<std::string> patterns;
  for (const PlanKind& kind : kinds)
    for (const std::string& pattern : kind.patterns)
      if (std::ranges::none_of(program.arguments, [&](const Argument& argument) {
            return matches(program.value(argument.value).name, pattern);
          }))
        patterns.push_back(fmt::format("{} of {}", in_quotes(pattern), kind.name));
  return patterns;
}

/// Returns the parts of the list that computes longest. The result is idle if there is no list.
TimeParts parts_of(const Report& report, Duration makespan) {
  const Scenario& scenario = *report.scenario;
  const ListRuns runs(scenario.program, *report.lowered, *report.completion);
  std::vector<std::optional<LocalDuration>> one(scenario.program.ops.size());  // of local ops
  TimeParts longest;
  for (uint32_t l = 0; l < runs.size(); ++l) {
    const ListId list(l);
    const Tape& tape = runs.tape(list);
    TimeParts parts;
    for (uint32_t i = 0; i < tape.size(); ++i) {
      const OpTime took = runs.all_runs(tape[i].op, list);
      if (tape[i].kind == Instruction::Kind::Local) {
        std::optional<LocalDuration>& run = one[tape[i].op.index()];
        if (!run)
          run = op_duration(scenario.program, scenario.program.op(tape[i].op),
                            scenario.cluster.device);
        const Duration launch = launch_part(*run, took.from_entered);
        parts.launch += launch;
        parts.compute += took.from_entered - launch;
      } else if (tape[i].kind != Instruction::Kind::Enter) {
        parts.exposed += took.from_start;
      }
    }
    if (parts.compute + parts.launch > longest.compute + longest.launch || l == 0)
      longest = parts;
  }
  longest.idle = makespan - longest.compute - longest.launch - longest.exposed;
  return longest;
}

/// Adds the shares of peak flops.
void add_utilization(const Scenario& given, PointTimes& times) {
  const Program& program = given.program;
  const std::vector<uint64_t> repeated = repetitions(program);
  double at_peak = 0;  // seconds over all devices
  double again = 0;    // of these
  for (const Thread& thread : program.threads)
    for (const OpId id : thread.issue_order) {
      const Op& op = program.op(id);
      if (!is_about_flops(op.kind))
        continue;
      const Cost cost = cost_of(program, op);
      const auto rate = given.cluster.device.flops.find(cost.dtype);
      if (rate == given.cluster.device.flops.end() || rate->second.count() == 0)
        continue;
      const auto takes = [&](Flops flops) {
        return static_cast<double>(flops.count()) * static_cast<double>(repeated[id.index()]) *
               static_cast<double>(thread.devices.size()) /
               static_cast<double>(rate->second.count());
      };
      at_peak += takes(cost.flops);
      again += takes(op.pass == Pass::Again ? cost.flops : cost.again);
    }
  const double available = static_cast<double>(times.makespan.count()) /
                           static_cast<double>(kPicosecondsPerSecond) *
                           static_cast<double>(program.mesh.devices());
  if (at_peak <= 0 || available <= 0)
    return;
  times.mfu = (at_peak - again) / available;
  times.hfu = at_peak / available;
}

}  // namespace

PointFigures figures_of(std::shared_ptr<const Scenario> scenario, std::span<const PlanKind> kinds,
                        const RunOptions& options,
                        FunctionRef<bool(const PointFigures& without_times)> times_if) {
  PointFigures figures;
  figures.devices = scenario->program.mesh.devices();
  figures.capacity = scenario->cluster.device.memory;
  RunOptions only_figures = options;
  only_figures.data = Data::Off;
  only_figures.wanted = Wanted::Figures;
  only_figures.most_ops_shown = 0;  // loops are timed as regions
  only_figures.times_if = [&](const MemoryProfile& memory) {
    figures.peak = memory.largest_peak();
    return times_if(figures);
  };
  const Report report = run(scenario, only_figures);
  figures.labels = report.labels;
  figures.unmatched = unmatched(scenario->program, kinds);
  const auto largest = std::max_element(
      report.memory.kinds.begin(), report.memory.kinds.end(),
      [](const DeviceMemory& a, const DeviceMemory& b) { return a.peak < b.peak; });
  if (largest != report.memory.kinds.end())
    figures.memory = by_kind(report.scenario->program, kinds, *largest);
  for (const Check& check : report.checks)
    if (!check.holds() && figures.hangs.empty())
      figures.hangs = check.message;
  if (report.completion) {
    PointTimes& times = figures.times.emplace();
    times.makespan = report.completion->makespan - Instant();
    times.parts = parts_of(report, times.makespan);
    add_utilization(*scenario, times);
  }
  return figures;
}

}  // namespace orrery
