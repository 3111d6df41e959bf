#include "verifier/long_loops.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "models/base/compiler.h"
#include "models/base/diagnostics.h"
#include "models/program/iteration_name.h"
#include "models/program/loops.h"
#include "models/scenario/quantity_text.h"

namespace orrery {

namespace {

struct Count {
  UInt128 ops = 0;
  UInt128 device_ops = 0;
};

Count with_all_iterations(const Program& program) {
  const std::vector<uint64_t> times = repetitions(program);
  Count count;
  for (const Thread& thread : program.threads)
    for (const OpId op : thread.issue_order) {
      count.ops += times[op.index()];
      count.device_ops += UInt128{times[op.index()]} * thread.devices.size();
    }
  return count;
}

/// The names of loops that are in parts, since iterations are named.
std::set<std::string_view> in_parts(const Program& program) {
  std::set<std::string_view> seen;
  std::set<std::string_view> parts;
  for (const WrittenLoop& loop : program.written_loops)
    if (!seen.insert(loop.name).second)
      parts.insert(loop.name);
  return parts;
}

int64_t at_most_63_bits(UInt128 count) {
  constexpr auto kMost = static_cast<UInt128>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(std::min(count, kMost));
}

}  // namespace

bool has_jitter_of_ops(std::span<const Fault> faults) {
  return std::any_of(faults.begin(), faults.end(), [](const Fault& fault) {
    const auto* jitter = std::get_if<Jitter>(&fault);
    return jitter != nullptr && jitter->ops > Duration();
  });
}

uint64_t device_ops_with_all_iterations(const Program& program) {
  return static_cast<uint64_t>(at_most_63_bits(with_all_iterations(program).device_ops));
}

std::string beyond_limits(const Program& program, const Limits& limits) {
  const Count count = with_all_iterations(program);
  if (const int64_t ops = at_most_63_bits(count.ops); ops > limits.ops)
    return beyond(limits, &Limits::ops, ops);
  if (const int64_t device_ops = at_most_63_bits(count.device_ops); device_ops > limits.device_ops)
    return beyond(limits, &Limits::device_ops,
                  fmt::format("{} on {} devices", device_ops, program.mesh.devices()));
  return {};
}

ScenarioToRun with_iterations(std::shared_ptr<const Scenario> scenario, const Limits& limits,
                              const WantedIterations& iterations) {
  if (scenario->program.loops.empty())
    return {scenario, scenario, own_runs(scenario->program)};
  const bool all = iterations.long_loops == LongLoops::WrittenOut;
  WrittenScenario made = written(*scenario, iterations.long_loops, all ? &limits : nullptr);
  std::optional<Program> looped;
  if (leaves_out_iterations(made.scenario.program)) {
    looped = with_sites(scenario->program, made.scenario.program, made.runs);
    const std::string beyond = beyond_limits(scenario->program, limits);
    if (iterations.for_values && !beyond.empty())
      throw InputError(scenario->file,
                       {{{}, "to compute values, all iterations are run: " + beyond}});
    if (beyond.empty() &&
        (iterations.for_values || !looped || has_jitter_of_ops(scenario->faults) ||
         device_ops_with_all_iterations(scenario->program) <= iterations.budget)) {
      made = written(*scenario, LongLoops::WrittenOut);
      looped.reset();
    }
  }
  return {std::move(scenario), std::make_shared<const Scenario>(std::move(made.scenario)),
          std::move(made.runs), std::move(looped)};
}

std::string shown_label(const Program& program, uint64_t budget) {
  const std::string_view named = in_parts(program).empty() ? "" : ", and those that are named,";
  return fmt::format(
      "loops: only the first and the last iterations{} are shown ({} ops on devices "
      "in all, and the budget is {})",
      named, device_ops_with_all_iterations(program), budget);
}

std::vector<std::string> added_labels(const Program& looped,
                                      const std::vector<AddedIterations>& added) {
  constexpr size_t kMostLines = 8;
  std::vector<std::string> lines;
  size_t others = 0;
  for (size_t l = 0; l < added.size(); ++l) {
    if (added[l].count == 0)
      continue;
    if (lines.size() == kMostLines) {
      ++others;
      continue;
    }
    lines.push_back(fmt::format(
        "\"{}\": {} iterations are added up, each as the one {}before{}",
        without_indices(looped.loops[l].name), added[l].count,
        added[l].every == 1 ? "" : fmt::format("{} ", added[l].every),
        added[l].later ? fmt::format(", {} later", quantity_text(*added[l].later))
                       : ", later by a time of its own on each group of devices that meet"));
  }
  if (others > 0)
    lines.push_back(fmt::format("loops: iterations of {} others are added up too", others));
  return lines;
}

}  // namespace orrery
