#include "simulator/schedule/schedule.h"

#include <algorithm>

namespace orrery {

std::vector<Node> Schedule::receivers(Node node, Channel channel) const {
  std::vector<Node> result;
  const uint32_t length = steps(node, channel);
  for (uint32_t i = 0; i < length; ++i)
    if (const std::optional<Node> to = step({node, channel, i}).to)
      result.push_back(*to);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

uint64_t count_steps(const Schedule& schedule) {
  uint64_t steps = 0;
  for (uint32_t n = 0; n < schedule.extent().nodes; ++n)
    for (uint32_t c = 0; c < schedule.extent().channels; ++c)
      steps += schedule.steps(Node(n), Channel(c));
  return steps;
}

}  // namespace orrery
