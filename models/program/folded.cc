#include "models/program/folded.h"

#include <algorithm>
#include <charconv>

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
  std::vector<std::string> outside(program.ops.size());  // of what is around it, "outer[]."
  for (size_t l = program.loops.size(); l-- > 0;) {      // outer loops before those in them
    for (const LoopIteration& iteration : program.loops[l].written) {
      for (uint32_t op = iteration.ops.begin; op < iteration.ops.end; ++op) {
        const std::string_view name = iteration.name;
        const size_t around = innermost[op] == nullptr ? 0 : innermost[op]->name.size() + 1;
        outside[op] += std::string(name.substr(around, name.rfind('[') - around)) + "[].";
        innermost[op] = &iteration;
      }
    }
  }
  std::vector<std::string> names(program.ops.size());
  for (size_t op = 0; op < program.ops.size(); ++op)
    if (innermost[op] != nullptr)
      names[op] = outside[op] + program.ops[op].name.substr(innermost[op]->name.size() + 1);
  return names;
}

void for_each_iteration_in(std::string_view name,
                           FunctionRef<void(std::string_view loop, int64_t index)> visit) {
  for (size_t at = name.find('['); at != name.npos; at = name.find('[', at + 1)) {
    int64_t index = 0;
    const char* const end = name.data() + name.size();
    const auto [after, error] = std::from_chars(name.data() + at + 1, end, index);
    if (error == std::errc() && after != end && *after == ']')
      visit(name.substr(0, at), index);
  }
}

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

}  // namespace orrery
