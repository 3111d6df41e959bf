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

}  // namespace orrery
