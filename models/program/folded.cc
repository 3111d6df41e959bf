#include "models/program/folded.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "models/program/iteration_name.h"

namespace orrery {

bool has_long_loops(const Program& program) {
  return std::any_of(program.loops.begin(), program.loops.end(),
                     [](const Loop& loop) { return loop.window > 0; });
}

std::vector<bool> shown_when_folded(const Program& program) {
  std::vector<bool> shown(program.ops.size(), true);
  for (const Loop& loop : program.loops)
    for (size_t w = loop.first; loop.window > 0 && w < loop.window_begin(); ++w)
      std::fill(shown.begin() + loop.written[w].ops.begin, shown.begin() + loop.written[w].ops.end,
                false);
  return shown;
}

std::vector<NameInLoops> names_in_loops(const Program& program) {
  std::set<std::string_view> iterations;
  for (const Loop& loop : program.loops)
    for (const LoopIteration& iteration : loop.written)
      iterations.insert(iteration.name);
  std::vector<NameInLoops> names(program.ops.size());
  for (size_t op = 0; op < program.ops.size(); ++op) {
    const std::string_view name = program.ops[op].name;
    std::string shown;  // of what stands before `rest`
    size_t rest = 0;
    for_each_iteration_in(name, [&](std::string_view loop, int64_t index) {
      const size_t end = with_index(loop, index).size();
      if (!iterations.contains(name.substr(0, end)) || name.substr(end, 1) != ".")
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
