#pragma once

// Writes the steps of a node as text.

#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "simulator/schedule/schedule.h"

namespace orrery::test {

inline std::string text(const std::optional<Slice>& slice) {
  return slice ? fmt::format("{}[{},{})", name(slice->area), slice->first,
                             slice->first + slice->count)
               : "-";
}

/// Returns the steps of each channel that has any: "1: from 2 + input[0,3) -> output[0,3) to 4; 2:
/// ...". The number before each step is its channel. "after 1" names the channel that a step waits
/// for.
inline std::string steps_of(const Schedule& schedule, uint32_t node) {
  std::string all;
  for (uint32_t c = 0; c < schedule.extent().channels; ++c) {
    for (uint32_t s = 0; s < schedule.steps(Node(node), Channel(c)); ++s) {
      const Step step = schedule.step({Node(node), Channel(c), s});
      all += fmt::format("{}{}:", all.empty() ? "" : "; ", c);
      if (step.from)
        all += fmt::format(" from {}", step.from->index());
      if (step.source)
        all += fmt::format(" {}{}", step.combine == Combine::None ? "" : "+ ", text(step.source));
      if (step.target)
        all += fmt::format(" -> {}", text(step.target));
      if (step.to)
        all += fmt::format(" to {}", step.to->index());
      if (step.after)
        all += fmt::format(" after {}", step.after->channel.index());
    }
  }
  return all;
}

}  // namespace orrery::test
