#include "simulator/schedule/schedule.h"

#include <algorithm>
#include <vector>

#include "models/base/int128.h"

namespace orrery {

void Schedule::for_each_receiver(Node node, Channel channel,
                                 FunctionRef<void(const Sent&)> visit) const {
  std::vector<Sent> messages;
  const uint32_t length = steps(node, channel);
  for (uint32_t i = 0; i < length; ++i) {
    const Step step = this->step({node, channel, i});
    if (step.to)
      messages.push_back({*step.to, 1, step.count()});
  }
  std::sort(messages.begin(), messages.end(),
            [](const Sent& a, const Sent& b) { return a.to < b.to; });
  for (size_t first = 0; first < messages.size();) {
    Sent all{messages[first].to, 0, 0};
    for (; first < messages.size() && messages[first].to == all.to; ++first) {
      ++all.messages;
      all.elements = checked_add(all.elements, messages[first].elements);
    }
    visit(all);
  }
}

uint64_t count_steps(const Schedule& schedule) {
  uint64_t steps = 0;
  for (uint32_t n = 0; n < schedule.extent().nodes; ++n)
    for (uint32_t c = 0; c < schedule.extent().channels; ++c)
      steps += schedule.steps(Node(n), Channel(c));
  return steps;
}

}  // namespace orrery
