#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "models/program/iteration_name.h"
#include "models/program/loops.h"

namespace orrery {

bool has_long_loops(const Program& program) {
  return std::any_of(program.written_loops.begin(), program.written_loops.end(),
                     [](const WrittenLoop& loop) { return loop.window > 0; });
}

std::vector<bool> shown_when_folded(const Program& program) {
  std::vector<bool> shown(program.ops.size(), true);
  for (const WrittenLoop& loop : program.written_loops)
    for (size_t w = loop.first; loop.window > 0 && w < loop.window_begin(); ++w)
      std::fill(shown.begin() + loop.written[w].ops.begin, shown.begin() + loop.written[w].ops.end,
                false);
  return shown;
}

namespace {

/// Returns the op as which an op counts: itself, or the op that a backward op goes back through.
size_t place_of(const Program& program, size_t op) {
  while (program.ops[op].forward)
    op = program.ops[op].forward->index();
  return op;
}

}  // namespace

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
      if (iteration == iterations.end() || !iteration->second.has(place_of(program, op)))
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
