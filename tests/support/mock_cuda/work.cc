#include "tests/support/mock_cuda/work.h"

#include <cstring>
#include <string_view>
#include <utility>

#include "models/base/callable.h"
#include "simulator/values/cuda/kernels/fold.h"

namespace orrery::mock_cuda {

bool may_touch(const Work& work, cuda::CUdeviceptr address, size_t size) {
  const auto overlap = [&](cuda::CUdeviceptr first, size_t count) {
    return first < address + size && address < first + count;
  };
  return std::visit(
      Overloaded{[](const KernelWork&) { return true; },
                 [&](const CopyWork& copy) {
                   return overlap(copy.to, copy.size) || overlap(copy.from, copy.size);
                 },
                 [&](const FillWork& fill) { return overlap(fill.to, fill.size); },
                 [&](const WriteWork& write) { return overlap(write.to, write.bytes.size()); },
                 [](const ProductWork&) { return true; }, [](const RecordWork&) { return false; },
                 [](JoinWork) { return false; }},
      work);
}

int64_t products_of(const KernelWork& work) {
  const std::string_view name = work.kernel->entry_point;
  if (!name.starts_with("orrery_dot_") && !name.starts_with("orrery_any_dot_"))
    return 0;
  cuda::DotArgs dot;
  std::memcpy(&dot, work.argument.data(), sizeof(dot));
  return dot.batch.items * dot.rows.items * dot.columns.items * dot.depth.items;
}

Plan::Plan(std::vector<Node> nodes_of_graph, std::optional<int64_t> launch)
    : nodes(std::move(nodes_of_graph)), launch_ps(launch) {
  if (nodes.empty())
    nodes.push_back({JoinWork{}, {}});
  successors.resize(nodes.size());
  for (size_t n = 0; n < nodes.size(); ++n)
    for (const size_t before : nodes[n].after)
      successors[before].push_back(n);
}

}  // namespace orrery::mock_cuda
