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

namespace {

/// Throws InputError if all iterations are needed for values, and exceed the limits.
bool writes_out(const Scenario& scenario, const Limits& limits, const Iterations& iterations) {
  const Program& program = scenario.program;
  if (!iterations.for_values && !has_jitter_of_ops(scenario.faults) &&
      device_ops_with_all_iterations(program) > iterations.budget)
    return false;
  const std::string beyond = beyond_limits(program, limits);
  if (!beyond.empty() && iterations.for_values)
    throw InputError(scenario.file, {{{}, "to compute values, all iterations are run: " + beyond}});
  return beyond.empty();
}

}  // namespace

ScenarioToRun with_iterations(std::shared_ptr<const Scenario> scenario, const Limits& limits,
                              const Iterations& iterations) {
  if (scenario->program.loops.empty())
    return {scenario, scenario, own_runs(scenario->program)};
  const bool all = iterations.long_loops == LongLoops::WrittenOut;
  WrittenScenario made = written(*scenario, iterations.long_loops, all ? &limits : nullptr);
  if (leaves_out_iterations(made.scenario.program) && writes_out(*scenario, limits, iterations))
    made = written(*scenario, LongLoops::WrittenOut);
  return {std::move(scenario), std::make_shared<const Scenario>(std::move(made.scenario)),
          std::move(made.runs)};
}

std::string shown_label(const Program& program, uint64_t budget) {
  const std::string_view named = in_parts(program).empty() ? "" : ", and those that are named,";
  return fmt::format(
      "loops: only the first and the last iterations{} are shown ({} ops on devices "
      "in all, and the budget is {})",
      named, device_ops_with_all_iterations(program), budget);
}

std::vector<std::string> added_labels(const Program& program,
                                      const std::vector<AddedIterations>& added) {
  constexpr size_t kMostLines = 8;
  const std::set<std::string_view> parts = in_parts(program);
  const auto name = [&](const WrittenLoop& loop, std::string text) {
    return parts.count(loop.name) == 0
               ? fmt::format("\"{}\"", text)
               : fmt::format("\"{}\" from {} to {}", text, loop.lower, loop.upper - 1);
  };
  std::vector<size_t> first;  // of the copies of a loop
  std::map<std::string, size_t> copies;
  const auto copies_of = [&](size_t l) -> size_t& {
    return copies[name(program.written_loops[l], without_indices(program.written_loops[l].name))];
  };
  for (size_t l = 0; l < added.size(); ++l)
    if (added[l].count > 0 && copies_of(l)++ == 0)
      first.push_back(l);
  std::vector<std::string> lines;
  for (const size_t l : first) {
    if (lines.size() == kMostLines) {
      lines.push_back(fmt::format("loops: iterations of {} others are added up too",
                                  first.size() - kMostLines));
      break;
    }
    const size_t others = copies_of(l) - 1;
    lines.push_back(fmt::format(
        "{}: {} iterations are added up, each as the one {}before{}{}",
        name(program.written_loops[l], program.written_loops[l].name), added[l].count,
        added[l].every == 1 ? "" : fmt::format("{} ", added[l].every),
        added[l].later ? fmt::format(", {} later", quantity_text(*added[l].later))
                       : ", later by a time of its own on each group of devices that meet",
        others == 0 ? "" : fmt::format(" (and in {} more copies of the loop)", others)));
  }
  return lines;
}

}  // namespace orrery
