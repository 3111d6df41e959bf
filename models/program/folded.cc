#include "models/program/folded.h"

#include <algorithm>

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

std::vector<std::string> names_in_loops(const Program& program) {
  // The innermost iteration of each op, and for each iteration its name without indices.
  std::vector<const LoopIteration*> innermost(program.ops.size(), nullptr);
  std::vector<std::string> outside(program.ops.size());  // of what is around it, "outer[]"
  for (size_t l = program.loops.size(); l-- > 0;) {      // outer loops before those in them
    for (const LoopIteration& iteration : program.loops[l].written) {
      for (uint32_t op = iteration.ops.begin; op < iteration.ops.end; ++op) {
        const std::string& loop = program.loops[l].name;
        outside[op] = innermost[op] == nullptr
                          ? loop
                          : name_in(outside[op], own_name(innermost[op]->name, loop));
        outside[op] += kAnyIndex;
        innermost[op] = &iteration;
      }
    }
  }
  std::vector<std::string> names(program.ops.size());
  for (size_t op = 0; op < program.ops.size(); ++op)
    if (innermost[op] != nullptr)
      names[op] = name_in(outside[op], own_name(innermost[op]->name, program.ops[op].name));
  return names;
}

}  // namespace orrery
