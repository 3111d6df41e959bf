#include "verifier/long_loops.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "models/base/diagnostics.h"
#include "models/base/int128.h"
#include "models/program/loops.h"
#include "models/scenario/quantity_text.h"

namespace orrery {

namespace {

struct Count {
  UInt128 ops = 0;
  UInt128 places = 0;
};

Count with_all_iterations(const Program& program) {
  const std::vector<uint64_t> times = repetitions(program);
  Count count;
  for (const Thread& thread : program.threads)
    for (const OpId op : thread.issue_order) {
      count.ops += times[op.index()];
      count.places += UInt128{times[op.index()]} * thread.devices.size();
    }
  return count;
}

bool has_jitter_of_ops(const Scenario& scenario) {
  return std::any_of(scenario.faults.begin(), scenario.faults.end(), [](const Fault& fault) {
    const auto* jitter = std::get_if<Jitter>(&fault);
    return jitter != nullptr && jitter->ops > Duration();
  });
}

int64_t at_most_63_bits(UInt128 count) {
  constexpr auto kMost = static_cast<UInt128>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(std::min(count, kMost));
}

/// The name of the loop in the scenario: "outer.l" of "outer[0].l".
std::string without_indices(std::string_view name) {
  std::string text;
  size_t depth = 0;
  for (const char c : name) {
    depth += c == '[' ? 1 : 0;
    if (depth == 0)
      text += c;
    depth -= c == ']' && depth > 0 ? 1 : 0;
  }
  return text;
}

}  // namespace

uint64_t places_with_all_iterations(const Program& program) {
  return static_cast<uint64_t>(at_most_63_bits(with_all_iterations(program).places));
}

std::string beyond_limits(const Program& program, const Limits& limits) {
  const Count count = with_all_iterations(program);
  if (const int64_t ops = at_most_63_bits(count.ops); ops > limits.ops)
    return beyond(limits, &Limits::ops, ops);
  if (const int64_t places = at_most_63_bits(count.places); places > limits.places)
    return beyond(limits, &Limits::places,
                  fmt::format("{} on {} devices", places, program.mesh.devices()));
  return {};
}

std::shared_ptr<const Scenario> with_iterations(std::shared_ptr<const Scenario> scenario,
                                                const Limits& limits,
                                                const Iterations& iterations) {
  const Program& program = scenario->program;
  if (!leaves_out_iterations(program))
    return scenario;
  const bool wanted = iterations.all || has_jitter_of_ops(*scenario) ||
                      places_with_all_iterations(program) <= iterations.budget;
  if (!wanted)
    return scenario;
  if (const std::string beyond = beyond_limits(program, limits); !beyond.empty()) {
    if (iterations.all)
      throw InputError(scenario->file,
                       {{{}, "to compute values, all iterations are run: " + beyond}});
    return scenario;
  }
  Scenario whole = *scenario;
  whole.program = written_out(program).program;
  return std::make_shared<const Scenario>(std::move(whole));
}

std::vector<std::string> added_labels(const Program& program,
                                      const std::vector<AddedIterations>& added) {
  constexpr size_t kMostLines = 8;
  std::vector<size_t> first;  // of the copies of a loop
  std::map<std::string, size_t> copies;
  for (size_t l = 0; l < added.size(); ++l)
    if (added[l].count > 0 && copies[without_indices(program.loops[l].name)]++ == 0)
      first.push_back(l);
  std::vector<std::string> lines;
  for (const size_t l : first) {
    if (lines.size() == kMostLines) {
      lines.push_back(fmt::format("loops: iterations of {} others are added up too",
                                  first.size() - kMostLines));
      break;
    }
    const size_t others = copies.at(without_indices(program.loops[l].name)) - 1;
    lines.push_back(fmt::format(
        "\"{}\": {} iterations are added up, each as the one {}before, {} later{}",
        program.loops[l].name, added[l].count,
        added[l].every == 1 ? "" : fmt::format("{} ", added[l].every),
        quantity_text(added[l].later),
        others == 0 ? "" : fmt::format(" (and in {} more copies of the loop)", others)));
  }
  return lines;
}

}  // namespace orrery
