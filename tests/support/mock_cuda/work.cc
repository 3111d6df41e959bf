#include "tests/support/mock_cuda/work.h"

#include <utility>

#include "models/base/overloaded.h"

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
                 [](const RecordWork&) { return false; }, [](JoinWork) { return false; }},
      work);
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
