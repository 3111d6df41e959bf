#include "models/program/program.h"

#include <algorithm>

namespace orrery {

std::map<std::string_view, ValueId> values_by_name(const Program& program) {
  std::map<std::string_view, ValueId> names(program.other_names.begin(), program.other_names.end());
  for (size_t v = 0; v < program.values.size(); ++v)
    names.emplace(program.values[v].name, ValueId(v));
  return names;
}

bool has_groups(const Program& program) {
  return std::ranges::any_of(program.ops, [](const Op& op) { return !op.group.empty(); });
}

std::vector<ThreadId> issued_by(const Program& program) {
  std::vector<ThreadId> result(program.ops.size());
  for (size_t t = 0; t < program.threads.size(); ++t)
    for (const OpId op : program.threads[t].issue_order)
      result[op.index()] = ThreadId(t);
  return result;
}

std::vector<std::vector<ThreadId>> threads_by_device(const Program& program) {
  std::vector<std::vector<ThreadId>> threads(program.mesh.devices());
  for (size_t t = 0; t < program.threads.size(); ++t)
    for (const LogicalId device : program.threads[t].devices)
      threads[device.index()].emplace_back(t);
  return threads;
}

}  // namespace orrery
