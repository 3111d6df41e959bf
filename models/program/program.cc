#include "models/program/program.h"

#include <algorithm>

#include "models/mesh/mpmd.h"

namespace orrery {

std::map<std::string_view, ValueId> values_by_name(const Program& program) {
  std::map<std::string_view, ValueId> names(program.other_names.begin(), program.other_names.end());
  for (size_t v = 0; v < program.values.size(); ++v)
    names.emplace(program.values[v].name, ValueId(v));
  return names;
}

bool met_before(const Program& program, size_t reshard) {
  const auto begin = program.reshards.begin();
  return std::any_of(begin, begin + static_cast<ptrdiff_t>(reshard),
                     [&](const Reshard& each) { return each.meets(program.reshards[reshard]); });
}

std::vector<std::vector<size_t>> transfers_with(const Reshard& reshard, Bytes threshold) {
  std::vector<size_t> order;
  std::vector<Bytes> sizes;
  for (const std::vector<size_t>& group : reshard.transfers)
    for (const size_t array : group) {
      order.push_back(array);
      sizes.push_back(reshard.arrays[array].size);
    }
  std::vector<std::vector<size_t>> transfers = transfer_groups(sizes, threshold);
  for (std::vector<size_t>& group : transfers)
    for (size_t& array : group)
      array = order[array];
  return transfers;
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
