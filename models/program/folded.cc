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

std::vector<NameInLoops> names_in_loops(const Program& program) {
  // The innermost iteration of each op.
  std::vector<const LoopIteration*> innermost(program.ops.size(), nullptr);
  std::vector<NameInLoops> names(program.ops.size());
  for (size_t l = program.loops.size(); l-- > 0;) {  // outer loops before those in them
    for (const LoopIteration& iteration : program.loops[l].written) {
      for (uint32_t op = iteration.ops.begin; op < iteration.ops.end; ++op) {
        const std::string& name = program.loops[l].name;
        std::string& loop = names[op].loop;
        loop = innermost[op] == nullptr ? name : name_in(loop, own_name(innermost[op]->name, name));
        loop += kAnyIndex;
        innermost[op] = &iteration;
      }
    }
  }
  for (size_t op = 0; op < program.ops.size(); ++op)
    if (innermost[op] != nullptr)
      names[op].op = name_in(names[op].loop, own_name(innermost[op]->name, program.ops[op].name));
  return names;
}

}  // namespace orrery
