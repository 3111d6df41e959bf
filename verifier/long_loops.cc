#include "verifier/long_loops.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/compiler.h"
#include "models/base/diagnostics.h"
#include "models/program/iteration_name.h"
#include "models/program/loops.h"
#include "models/program/written_iterations.h"
#include "models/scenario/quantity_text.h"
#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
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

/// Returns whether the program has ragged exchanges, whose tables are found in written iterations.
bool has_ragged(const Program& program) {
  return std::any_of(program.ops.begin(), program.ops.end(),
                     [](const Op& op) { return op.kind == OpKind::RaggedAllToAll; });
}

/// MadeOf says of which other values a value of the regions is made, in any iteration.
class MadeOf {
 public:
  explicit MadeOf(const Program& program) : program_(program), from_(program.values.size()) {
    for (const Loop& loop : program.loops) {
      for (const Carry& carry : loop.carries) {
        from_[carry.param.index()] = {carry.initial, carry.yielded};
        from_[carry.result.index()] = {carry.initial, carry.yielded};
      }
      for (const Exit& exit : loop.exits)
        from_[exit.outside.index()] = {exit.inside};
    }
    for (const Op& op : program.ops)
      for (const ValueId result : op.results)
        makers_.emplace(result, &op);
  }

  /// Returns, per value, whether one of `wanted` is made of it, or is it.
  std::vector<bool> behind(std::span<const ValueId> wanted) const {
    std::vector<bool> found(from_.size());
    std::vector<ValueId> to_follow;
    const auto add = [&](ValueId value) {
      if (!found[value.index()])
        to_follow.push_back(value);
      found[value.index()] = true;
    };
    std::ranges::for_each(wanted, add);
    while (!to_follow.empty()) {
      const ValueId value = to_follow.back();
      to_follow.pop_back();
      std::ranges::for_each(from_[value.index()], add);
      const auto maker = makers_.find(value);
      if (maker == makers_.end())
        continue;
      if (!maker->second->site)
        std::ranges::for_each(maker->second->operands, add);
      else
        for (const OpId each : program_.site(*maker->second->site).ops)
          std::ranges::for_each(program_.op(each).operands, add);
    }
    return found;
  }

 private:
  const Program& program_;
  std::vector<std::vector<ValueId>> from_;  // per value of a carry or an exit
  std::map<ValueId, const Op*> makers_;
};

/// FirstOfLoops has a number of first iterations for each loop.
using FirstOfLoops = std::vector<int64_t>;

int64_t trips(const Loop& loop) {
  return loop.upper - loop.lower;
}

/// Returns how many first iterations of each loop make the wanted values as all iterations do. If a
/// value is made of a loop's result, these are all. Otherwise they reach to the last iteration of
/// which an exit is read, and a loop keeps one in any case.
FirstOfLoops needed_iterations(const Program& program, const MadeOf& made_of,
                               std::span<const ValueId> wanted) {
  const std::vector<bool> behind = made_of.behind(wanted);
  FirstOfLoops needed;
  for (const Loop& loop : program.loops) {
    int64_t first = std::min<int64_t>(trips(loop), 1);
    for (const Exit& exit : loop.exits)
      if (behind[exit.outside.index()])
        first = std::max(first, exit.iteration - loop.lower + 1);
    const bool is_whole = std::ranges::any_of(
        loop.carries, [&](const Carry& carry) { return behind[carry.result.index()]; });
    needed.push_back(is_whole ? trips(loop) : first);
  }
  return needed;
}

void take_more(FirstOfLoops& first, const FirstOfLoops& other) {
  for (size_t l = 0; l < first.size(); ++l)
    first[l] = std::max(first[l], other[l]);
}

/// Returns how many loops are around each loop.
std::vector<size_t> depths(const Program& program) {
  std::vector<size_t> depths;
  for (const Loop& loop : program.loops)  // outer loops come first
    depths.push_back(loop.around ? depths[*loop.around] + 1 : 0);
  return depths;
}

/// Cuts each loop to its first iterations.
void end_loops(Program& program, const FirstOfLoops& first) {
  for (size_t l = 0; l < first.size(); ++l) {
    Loop& loop = program.loops[l];
    loop.upper = loop.lower + first[l];
    for (Exit& exit : loop.exits)
      exit.iteration = std::min(exit.iteration, std::max(loop.lower, loop.upper - 1));
  }
}

/// Returns the program with its loops cut to their first iterations, or a few more. Loops of
/// several threads may meet, so there all loops that are equally deep end at the same index.
Program cut(const Program& given, FirstOfLoops first) {
  Program program = given;
  if (program.threads.size() > 1) {
    const std::vector<size_t> depth = depths(program);
    std::map<size_t, int64_t> ends;
    for (size_t l = 0; l < first.size(); ++l) {
      const int64_t end = program.loops[l].lower + first[l];
      int64_t& last = ends.emplace(depth[l], end).first->second;
      last = std::max(last, end);
    }
    for (size_t l = 0; l < first.size(); ++l)
      first[l] =
          std::clamp(ends.at(depth[l]) - program.loops[l].lower, first[l], trips(program.loops[l]));
  }
  end_loops(program, first);
  return program;
}

/// Returns the values that the expectation compares.
std::vector<ValueId> wanted_values(const Expectation& expectation,
                                   const std::map<std::string_view, ValueId>& values) {
  std::vector<ValueId> wanted;
  for (const ComparedValue& compared : compared_values(expectation))
    wanted.push_back(values.at(compared.name));
  return wanted;
}

/// Returns the loops around the op, the inner loop or the value that a name such as "l[3].s" names.
/// The outermost comes first. Returns nothing if the name is not of a single iteration of the
/// program.
std::vector<size_t> loops_around(const Program& program, std::string_view name) {
  const std::string in_body = in_any_iteration(name);
  if (in_body == name)
    return {};
  const auto is_called = [&](ValueId value) { return program.value(value).name == in_body; };
  std::optional<size_t> innermost;
  for (size_t l = 0; l < program.loops.size(); ++l) {
    const Loop& loop = program.loops[l];
    for (uint32_t op = loop.ops.begin; op < loop.ops.end; ++op)
      if (program.ops[op].name == in_body ||
          std::ranges::any_of(program.ops[op].results, is_called))
        innermost = l;  // inner loops come later and overwrite this
  }
  for (const Loop& loop : program.loops)
    if (loop.name == in_body ||
        std::ranges::any_of(loop.carries, [&](const Carry& c) { return is_called(c.result); }))
      innermost = loop.around;
  std::vector<size_t> loops;
  for (std::optional<size_t> l = innermost; l; l = program.loops[*l].around)
    loops.insert(loops.begin(), *l);
  size_t fits = 0;
  for_each_iteration_in(name, [&](std::string_view loop, int64_t index) {
    if (fits >= loops.size())
      return;
    const Loop& around = program.loops[loops[fits]];
    if (name.starts_with(with_index(loop, index) + ".") && in_any_iteration(loop) == around.name &&
        around.lower <= index && index < around.upper)
      ++fits;
  });
  return fits == loops.size() ? loops : std::vector<size_t>();
}

int64_t at_most_63_bits(UInt128 count) {
  constexpr auto kMost = static_cast<UInt128>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(std::min(count, kMost));
}

}  // namespace

bool has_absent(const Program& program) {
  return std::ranges::any_of(program.sites, [](const Site& site) { return !site.absent.empty(); });
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
        (for_values || !looped ||
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
  const MadeOf made_of(given.program);
  std::map<FirstOfLoops, std::vector<size_t>> expectations;  // by what they need
  for (size_t e = 0; e < given.expectations.size(); ++e)
    if (const std::vector<ValueId> wanted = wanted_values(given.expectations[e], values);
        !wanted.empty())
      expectations[needed_iterations(given.program, made_of, wanted)].push_back(e);
  const auto cut_to = [&](const FirstOfLoops& first) -> std::optional<Program> {
    Program program = cut(given.program, first);
    if (device_ops_with_all_iterations(program) > budget || !beyond_limits(program, limits).empty())
      return std::nullopt;
    return program;
  };
  std::multimap<uint64_t, const FirstOfLoops*> by_size;
  for (const auto& [needed, of] : expectations)
    if (const std::optional<Program> program = cut_to(needed))
      by_size.emplace(device_ops_with_all_iterations(*program), &needed);
  std::optional<Program> program;
  FirstOfLoops first(given.program.loops.size(), 0);
  std::vector<size_t> decided;
  for (const auto& [size, needed] : by_size) {
    FirstOfLoops more = first;
    take_more(more, *needed);
    std::optional<Program> with_more = cut_to(more);
    if (!with_more)
      break;
    program = std::move(with_more);
    first = std::move(more);
    const std::vector<size_t>& of = expectations.at(*needed);
    decided.insert(decided.end(), of.begin(), of.end());
  }
  if (!program)
    return std::nullopt;
  std::ranges::sort(decided);
  FirstIterations result{given, std::move(decided)};
  result.scenario.program = *std::move(program);
  result.scenario.expectations.clear();
  for (const size_t e : result.decided)
    result.scenario.expectations.push_back(given.expectations[e]);
  return result;
}

Scenario first_iterations_of(const Scenario& given, std::span<const std::string> names,
                             const Limits& limits) {
  Scenario scenario = read_scenario(given.file, write_scenario(given), limits, {}, names);
  const std::map<std::string_view, ValueId> values = values_by_name(scenario.program);
  std::vector<ValueId> wanted;
  for (const std::string& name : names)
    if (const auto value = values.find(name); value != values.end())
      wanted.push_back(value->second);
  const MadeOf made_of(scenario.program);
  scenario.program = cut(scenario.program, needed_iterations(scenario.program, made_of, wanted));
  scenario.expectations.clear();
  return scenario;
}

std::optional<CutLoops> cut_after(const Scenario& given, std::string_view name, uint64_t further,
                                  const Limits& limits) {
  const std::vector<size_t> around = loops_around(given.program, name);
  if (around.empty())
    return std::nullopt;
  const Loop& outermost = given.program.loops[around.front()];
  std::optional<int64_t> named;
  for_each_iteration_in(name, [&](std::string_view, int64_t index) {
    if (!named)
      named = index;
  });
  // So many iterations later, nothing is left of the iteration but what later iterations have too.
  const std::vector<Recurrence> repeating = recurrences(given.program);
  const uint64_t least = std::max(further, repeating[around.front()].first());
  const auto trips_left = static_cast<uint64_t>(outermost.upper - *named - 1);
  if (least >= trips_left)
    return std::nullopt;
  // Whole periods are cut, so that the carries that go round end as in the whole loop.
  Recurrence all;
  for (size_t l = 0; l < repeating.size(); ++l)
    if (!given.program.loops[l].around)
      all.include(repeating[l]);
  const int64_t end =
      outermost.upper - static_cast<int64_t>((trips_left - least) / all.period * all.period);
  if (end == outermost.upper)
    return std::nullopt;
  FirstOfLoops first;
  CutLoops result{given, {}};
  for (size_t l = 0; l < given.program.loops.size(); ++l) {
    const Loop& loop = given.program.loops[l];
    // Loops of other threads may meet it, so they end where it does.
    const bool ends = !loop.around && (l == around.front() || given.program.threads.size() > 1);
    first.push_back(
        ends ? std::clamp(end - loop.lower, std::min<int64_t>(trips(loop), 1), trips(loop))
             : trips(loop));
    if (first.back() < trips(loop))
      result.loops.push_back({loop.name, loop.lower + first.back()});
  }
  end_loops(result.scenario.program, first);
  result.scenario.expectations.clear();
  if (!beyond_limits(result.scenario.program, limits).empty())
    return std::nullopt;
  return result;
}

bool CutLoops::cuts(const WrittenLoop& loop) const {
  return std::ranges::any_of(loops, [&](const Ended& ended) {
    return ended.name == loop.name && ended.upper == loop.upper;
  });
}

Instant known_until(const Report& report, const CutLoops& cut) {
  std::optional<Instant> until;
  for (const WrittenLoop& loop : report.scenario->program.written_loops) {
    if (!cut.cuts(loop))
      continue;
    const IdRange& last = loop.last().ops;
    if (last.size() == 0)
      return Instant();
    for (const OpSpan& span : report.completion->spans[last.end - 1])
      until = until ? std::min(*until, span.start) : span.start;
  }
  return until.value_or(Instant());
}

std::string shown_label(const Program& program, uint64_t budget) {
  const bool are_named =
      std::ranges::any_of(program.loops, [](const Loop& loop) { return !loop.exits.empty(); });
  const std::string_view named = are_named ? ", and those that are named," : "";
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
