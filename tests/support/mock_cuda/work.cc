#include "tests/support/mock_cuda/work.h"

#include <utility>

namespace orrery::mock_cuda {

Plan::Plan(std::vector<Node> nodes_of_graph, int64_t launch)
    : nodes(std::move(nodes_of_graph)), launch_ps(launch) {
  if (nodes.empty())
    nodes.push_back({JoinWork{}, {}});
  successors.resize(nodes.size());
  for (size_t n = 0; n < nodes.size(); ++n)
    for (const size_t before : nodes[n].after)
      successors[before].push_back(n);
}

}  // namespace orrery::mock_cuda
