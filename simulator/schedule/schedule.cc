#include "simulator/schedule/schedule.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/base/compiler.h"

namespace orrery {

std::string step_text(StepRef ref) {
  return fmt::format("node {} channel {} step {}", ref.node.index(), ref.channel.index(),
                     ref.index);
}

std::string_view name(Area area) {
  static constexpr std::array<std::string_view, 3> kNames = {"input", "output", "scratch"};
  return kNames[static_cast<size_t>(area)];
}

std::optional<StepRef> Schedule::takes_slot_of(StepRef /*ref*/) const {
  ORRERY_CHECK(extent().one_message_a_connection, "such a schedule says which slots are reused");
  return std::nullopt;
}

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

int64_t Schedule::largest_message() const {
  int64_t largest = 0;
  for (uint32_t n = 0; n < extent().nodes; ++n) {
    for (uint32_t c = 0; c < extent().channels; ++c) {
      const uint32_t length = steps(Node(n), Channel(c));
      for (uint32_t i = 0; i < length; ++i)
        if (const Step step = this->step({Node(n), Channel(c), i}); step.to)
          largest = std::max(largest, step.count());
    }
  }
  return largest;
}

uint64_t count_steps(const Schedule& schedule) {
  uint64_t steps = 0;
  for (uint32_t n = 0; n < schedule.extent().nodes; ++n)
    for (uint32_t c = 0; c < schedule.extent().channels; ++c)
      steps += schedule.steps(Node(n), Channel(c));
  return steps;
}

}  // namespace orrery
