#include "verifier/long_loops.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
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
#include "verifier/expect/expect.h"

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

/// Returns the names of loops that are written in several parts, since some of their iterations are
/// named.
std::set<std::string_view> in_parts(const Program& program) {
  std::set<std::string_view> seen;
  std::set<std::string_view> parts;
  for (const WrittenLoop& loop : program.written_loops)
    if (!seen.insert(loop.name).second)
      parts.insert(loop.name);
  return parts;
}

/// Returns whether the program has ragged exchanges, whose tables are found in written iterations.
bool has_ragged(const Program& program) {
  return std::any_of(program.ops.begin(), program.ops.end(),
                     [](const Op& op) { return op.kind == OpKind::RaggedAllToAll; });
}

/// This is the set of values that are different once loops have been cut short.
class Changed {
 public:
  explicit Changed(const Program& program) : program_(program), changed_(program.values.size()) {}

  bool has(ValueId value) const { return changed_[value.index()]; }
  bool add(ValueId value) {
    const bool is_new = !has(value);
    changed_[value.index()] = true;
    return is_new;
  }

  /// Adds all values that depend on those that were added.
  void spread() {
    for (bool grew = true; grew;) {
      grew = false;
      for (const Loop& loop : program_.loops) {
        for (const Carry& carry : loop.carries) {
          grew |= pass(carry.initial, carry.param);
          grew |= pass(carry.yielded, carry.param);
          grew |= pass(carry.param, carry.result);
        }
        for (const Exit& exit : loop.exits)
          grew |= pass(exit.inside, exit.outside);
      }
      for (size_t op = 0; op < program_.ops.size(); ++op)
        grew |= pass(OpId(op));
    }
  }

 private:
  bool pass(ValueId from, ValueId to) { return has(from) && add(to); }

  /// Marks all results of the op as changed if an operand of an op at its site is.
  bool pass(OpId op) {
    const std::optional<SiteId> site = program_.op(op).site;
    const std::span<const OpId> together =
        site ? std::span<const OpId>(program_.site(*site).ops) : std::span(&op, 1);
    const auto is_changed = [&](OpId each) {
      return std::ranges::any_of(program_.op(each).operands, [&](ValueId v) { return has(v); });
    };
    bool grew = false;
    if (std::ranges::any_of(together, is_changed))
      for (const ValueId result : program_.op(op).results)
        grew |= add(result);
    return grew;
  }

  const Program& program_;
  std::vector<bool> changed_;
};

/// Adds the numbers of the iterations that a value is in, 1 for a first one. For "l[3].m[5].t" it
/// adds 4 and 6 if both loops begin at 0. Requires a value that is read outside of all loops.
void add_numbers_of_iterations(const Program& program, ValueId value, auto& numbers) {
  for (bool found = true; found;) {
    found = false;
    for (const Loop& loop : program.loops)
      for (const Exit& exit : loop.exits)
        if (exit.outside == value) {
          numbers.insert(exit.iteration - loop.lower + 1);
          value = exit.inside;
          found = true;
        }
  }
}

enum class Cut : uint8_t { OutermostLoops, AllLoops };

/// Cuts loops to their first iterations, and returns the values that then differ.
Changed cut(Program& program, int64_t iterations, Cut which) {
  std::vector<ValueId> others;
  for (Loop& loop : program.loops) {
    if (loop.upper - loop.lower <= iterations || (loop.around && which == Cut::OutermostLoops))
      continue;
    loop.upper = loop.lower + iterations;
    for (const Carry& carry : loop.carries)
      others.push_back(carry.result);
    for (Exit& exit : loop.exits)
      if (exit.iteration >= loop.upper) {
        exit.iteration = loop.upper - 1;
        others.push_back(exit.outside);
      }
  }
  Changed changed(program);
  for (const ValueId value : others)
    changed.add(value);
  changed.spread();
  return changed;
}

int64_t at_most_63_bits(UInt128 count) {
  constexpr auto kMost = static_cast<UInt128>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(std::min(count, kMost));
}

}  // namespace

bool has_absent(const Program& program) {
  return std::ranges::any_of(program.sites, [](const Site& site) { return !site.absent.empty(); });
}

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
    return {scenario, scenario, own_runs(scenario->program), {}, {}};
  const std::string too_many = beyond_limits(scenario->program, limits);
  if (!iterations.budget && !too_many.empty())
    throw InputError(
        scenario->file,
        {{{}, "to show any single run of an op, all iterations are written: " + too_many}});
  WrittenScenario made = iterations.budget ? written(*scenario, LongLoops::LeftOut)
                                           : written(*scenario, LongLoops::WrittenOut, &limits);
  std::optional<Program> looped;
  // Where a member is absent from a collective, the program cannot end: it has neither times nor
  // values that all iterations would be needed for.
  if (leaves_out_iterations(made.scenario.program) && !has_absent(made.scenario.program)) {
    looped = with_sites(scenario->program, made.scenario.program, made.runs);
    const bool for_values = iterations.for_values && (!looped || has_ragged(scenario->program));
    if (for_values && !too_many.empty())
      throw InputError(scenario->file,
                       {{{}, "to compute values, all iterations are run: " + too_many}});
    if (too_many.empty() &&
        (for_values || !looped || has_jitter_of_ops(scenario->faults) ||
         device_ops_with_all_iterations(scenario->program) <= *iterations.budget)) {
      made = written(*scenario, LongLoops::WrittenOut);
      looped.reset();
    }
  }
  return {std::move(scenario), std::make_shared<const Scenario>(std::move(made.scenario)),
          std::move(made.runs), std::move(made.values), std::move(looped)};
}

std::optional<FirstIterations> first_iterations(const Scenario& given, uint64_t budget,
                                                const Limits& limits) {
  const std::map<std::string_view, ValueId> values = values_by_name(given.program);
  std::set<int64_t, std::greater<>> wanted;
  for (const Expectation& expectation : given.expectations)
    for (const ComparedValue& compared : compared_values(expectation))
      add_numbers_of_iterations(given.program, values.at(compared.name), wanted);
  // Each iteration has an op, so more iterations than ops are not tried.
  wanted.erase(wanted.begin(), std::find_if(wanted.begin(), wanted.end(), [&](int64_t iterations) {
                 return static_cast<uint64_t>(iterations) <= budget;
               }));
  for (const int64_t iterations : wanted)
    for (const Cut which : {Cut::OutermostLoops, Cut::AllLoops}) {
      FirstIterations first{given, {}};
      const Changed changed = cut(first.scenario.program, iterations, which);
      if (device_ops_with_all_iterations(first.scenario.program) > budget ||
          !beyond_limits(first.scenario.program, limits).empty())
        continue;
      first.scenario.expectations.clear();
      for (size_t e = 0; e < given.expectations.size(); ++e) {
        const std::vector<ComparedValue> compared = compared_values(given.expectations[e]);
        if (compared.empty() || std::ranges::any_of(compared, [&](const ComparedValue& each) {
              return changed.has(values.at(each.name));
            }))
          continue;
        first.scenario.expectations.push_back(given.expectations[e]);
        first.decided.push_back(e);
      }
      if (!first.decided.empty())
        return first;
    }
  return std::nullopt;
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
