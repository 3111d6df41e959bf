#include "models/program/loops.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/program/iteration_name.h"

namespace orrery {

namespace {

constexpr uint64_t kMostRepetitions = std::numeric_limits<int64_t>::max();

uint64_t product(uint64_t a, uint64_t b) {
  return a > kMostRepetitions / b ? kMostRepetitions : a * b;
}

/// Returns the op as which an op counts: itself, or the op that a backward op goes back through.
size_t place_of(const Program& program, size_t op) {
  while (program.ops[op].forward)
    op = program.ops[op].forward->index();
  return op;
}

}  // namespace

Attributes index_attributes(int64_t index) {
  Attributes attributes;
  attributes.set("shape", std::vector<int64_t>());
  attributes.set("fill_value", static_cast<double>(index));
  attributes.set("dtype", Dtype::S32);
  return attributes;
}

bool leaves_out_iterations(const Program& program) {
  return std::any_of(program.written_loops.begin(), program.written_loops.end(),
                     [](const WrittenLoop& loop) { return loop.left_out() > 0; });
}

std::vector<std::optional<size_t>> bodies_of_values(const Program& program) {
  std::vector<std::optional<size_t>> bodies(program.values.size());
  for (size_t l = 0; l < program.loops.size(); ++l) {
    const Loop& loop = program.loops[l];
    for (uint32_t op = loop.ops.begin; op < loop.ops.end; ++op)
      for (const ValueId result : program.ops[op].results)
        bodies[result.index()] = l;
    for (const Carry& carry : loop.carries) {
      bodies[carry.param.index()] = l;
      bodies[carry.result.index()] = loop.around;
    }
    for (const Exit& exit : loop.exits)
      bodies[exit.outside.index()] = loop.around;
  }
  return bodies;
}

std::vector<uint64_t> repetitions(const Program& program) {
  std::vector<uint64_t> times(program.ops.size(), 1);
  for (const Loop& loop : program.loops)
    for (uint32_t op = loop.ops.begin; op < loop.ops.end; ++op)
      times[op] = product(times[op], static_cast<uint64_t>(loop.upper - loop.lower));
  for (const WrittenLoop& loop : program.written_loops)
    for (const LoopIteration& iteration : loop.written)
      for (uint32_t op = iteration.ops.begin; iteration.copies > 0 && op < iteration.ops.end; ++op)
        times[op] = product(times[op], iteration.copies + 1);
  return times;
}

std::vector<std::vector<Gap>> gaps_with_copies(const Program& program) {
  std::vector<std::vector<Gap>> gaps(program.ops.size());
  for (size_t l = 0; l < program.written_loops.size(); ++l) {
    const WrittenLoop& loop = program.written_loops[l];
    for (size_t behind = 1; behind < loop.written.size(); ++behind) {
      if (loop.left_out_before(behind) == 0)
        continue;
      for (size_t w = behind - loop.period; w < behind; ++w)
        for (uint32_t op = loop.written[w].ops.begin; op < loop.written[w].ops.end; ++op)
          gaps[op].push_back({l, behind});
    }
  }
  return gaps;
}

bool has_long_loops(const Program& program) {
  return std::ranges::any_of(program.written_loops, [](const WrittenLoop& loop) {
    return loop.left_out() > 0 || !std::ranges::all_of(loop.written, &LoopIteration::is_shown);
  });
}

std::vector<bool> shown_when_shortened(const Program& program) {
  std::vector<bool> shown(program.ops.size(), true);
  for (const WrittenLoop& loop : program.written_loops)
    for (const LoopIteration& iteration : loop.written)
      if (!iteration.is_shown)
        std::fill(shown.begin() + iteration.ops.begin, shown.begin() + iteration.ops.end, false);
  return shown;
}

std::string iterations_hint(const Program& program, std::string_view name) {
  std::string hint;
  std::string in_body;  // the part of the name before `rest`, as regions have it
  size_t rest = 0;
  for_each_iteration_in(name, [&](std::string_view loop, int64_t index) {
    if (!hint.empty() || loop.size() < rest)
      return;
    const std::string called = in_body + std::string(loop.substr(rest));
    std::vector<std::pair<int64_t, int64_t>> bounds;
    for (const Loop& region : program.loops)
      if (region.name == called)
        bounds.emplace_back(region.lower, region.upper);
    for (const WrittenLoop& part : program.written_loops)
      if (part.name == loop)
        bounds.emplace_back(part.lower, part.upper);
    if (bounds.empty())
      return;
    const bool has = std::ranges::any_of(
        bounds, [&](const auto& each) { return each.first <= index && index < each.second; });
    const int64_t lower = std::ranges::min(bounds).first;
    const int64_t upper =
        std::ranges::max(bounds, {}, [](const auto& each) { return each.second; }).second;
    if (!has)
      hint = lower == upper ? fmt::format(", but the loop \"{}\" has no iterations", loop)
             : lower + 1 == upper
                 ? fmt::format(", but the loop \"{}\" has only the iteration {}", loop, lower)
                 : fmt::format(", but the loop \"{}\" has the iterations {} to {}", loop, lower,
                               upper - 1);
    in_body = name_in(any_iteration(called), "");
    rest = with_index(loop, index).size() + 1;
  });
  return hint;
}

std::vector<NameInLoops> names_in_loops(const Program& program) {
  std::map<std::string_view, IdRange> iterations;
  for (const WrittenLoop& loop : program.written_loops)
    for (const LoopIteration& iteration : loop.written)
      iterations.emplace(iteration.name, iteration.ops);
  std::vector<NameInLoops> names(program.ops.size());
  if (iterations.empty())
    return names;
  for (size_t op = 0; op < program.ops.size(); ++op) {
    const std::string_view name = program.ops[op].name;
    std::string shown;  // for the part before `rest`
    size_t rest = 0;
    for_each_iteration_in(name, [&](std::string_view loop, int64_t index) {
      const size_t end = with_index(loop, index).size();
      const auto iteration = iterations.find(name.substr(0, end));
      if (iteration == iterations.end() ||
          (!iteration->second.has(op) && !iteration->second.has(place_of(program, op))))
        return;
      shown += loop.substr(rest);
      shown += kAnyIndex;
      names[op].loop = shown;
      rest = end;
    });
    if (!shown.empty())
      names[op].op = shown + std::string(name.substr(rest));
  }
  return names;
}

}  // namespace orrery
