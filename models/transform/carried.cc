#include "models/transform/carried.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

namespace orrery {

namespace {

/// The written iterations of a loop, of all its parts.
struct Iterations {
  std::vector<const LoopIteration*> written;
  bool may_leave_out = false;

  const LoopIteration* with(IdRange LoopIteration::*ids, size_t id) const {
    const auto found =
        std::partition_point(written.begin(), written.end(),
                             [&](const LoopIteration* each) { return (each->*ids).end <= id; });
    return found != written.end() && ((*found)->*ids).has(id) ? *found : nullptr;
  }
};

/// The value's name with the loop's name in place of the iteration's, so without an index.
std::string in_loop(const std::string& loop, const LoopIteration& iteration,
                    const std::string& value) {
  return loop + value.substr(iteration.name.size());
}

}  // namespace

std::map<ValueId, std::vector<std::string>> carried_values(const Program& program) {
  std::map<std::string_view, Iterations> loops;
  for (const Loop& loop : program.loops) {
    Iterations& iterations = loops[loop.name];
    for (const LoopIteration& iteration : loop.written)
      iterations.written.push_back(&iteration);
    iterations.may_leave_out |= loop.window > 0;
  }
  std::map<ValueId, std::vector<std::string>> carried;
  for (const auto& [name, iterations] : loops) {
    if (!iterations.may_leave_out)
      continue;
    const std::string loop(name);
    std::set<std::string> read;
    for (size_t o = iterations.written.front()->ops.begin; o < iterations.written.back()->ops.end;
         ++o)
      for (const ValueId operand : program.ops[o].operands) {
        const LoopIteration* const maker = iterations.with(&LoopIteration::values, operand.index());
        if (maker != nullptr && !maker->ops.has(o))
          read.insert(in_loop(loop, *maker, program.value(operand).name));
      }
    for (const LoopIteration* const iteration : iterations.written)
      for (size_t v = iteration->values.begin; v < iteration->values.end; ++v)
        if (std::string value = in_loop(loop, *iteration, program.values[v].name);
            read.contains(value))
          carried[ValueId(v)].push_back(std::move(value));
  }
  return carried;
}

}  // namespace orrery
