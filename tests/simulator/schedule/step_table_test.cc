#include "simulator/schedule/step_table.h"

#include <doctest/doctest.h>

namespace orrery {
namespace {

TEST_CASE(
    "step table: the current step of a channel and the window before it have entries of their "
    "own") {
  for (uint32_t window = 0; window <= 9; ++window) {
    Extent extent;
    extent.nodes = 2;
    extent.channels = 3;
    extent.window = window;
    StepTable<uint32_t> table(extent, 0);
    const uint32_t steps = 40;
    for (uint32_t i = 0; i < steps; ++i)
      for (uint32_t n = 0; n < extent.nodes; ++n)
        for (uint32_t c = 0; c < extent.channels; ++c)
          table.at({Node(n), Channel(c), i}) = 1000 * n + 100 * c + i;
    for (uint32_t back = 0; back <= window; ++back)
      for (uint32_t n = 0; n < extent.nodes; ++n)
        for (uint32_t c = 0; c < extent.channels; ++c) {
          const uint32_t i = steps - 1 - back;
          CAPTURE(window);
          CAPTURE(back);
          CHECK(table.at({Node(n), Channel(c), i}) == 1000 * n + 100 * c + i);
        }
  }
}

TEST_CASE("step table: an empty extent needs no entries") {
  const StepTable<int> table(Extent{}, 0);
  static_cast<void>(table);
}

}  // namespace
}  // namespace orrery
