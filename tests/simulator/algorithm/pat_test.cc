// Tests PAT by interpreting its steps (interpreter.h).

#include "simulator/algorithm/pat.h"

#include <bit>

#include <doctest/doctest.h>

#include "tests/simulator/algorithm/any_transport.h"
#include "tests/simulator/algorithm/form.h"
#include "tests/simulator/algorithm/interpreter.h"
#include "tests/simulator/algorithm/steps_text.h"
#include "tests/support/property.h"

namespace orrery::test {
namespace {

TEST_CASE("pat: every rank gets the parts of all, or its part of the sum") {
  holds_for_all("values", [] {
    const auto nodes = in_range(1U, 34U);
    const auto part = in_range<int64_t>(0, 9);
    Transport transport = any_transport();
    transport.largest = in_range<int64_t>(0, 9);

    const auto own = inputs(nodes, part);
    Elements all;
    for (const Elements& each : own)
      all.insert(all.end(), each.begin(), each.end());
    const Moved gathered = move_data(PatSchedule(nodes, part, Combine::None, transport), own);
    RC_ASSERT(gathered.error.empty());
    for (const Elements& output : gathered.outputs)
      RC_ASSERT(output == all);

    const auto wide = inputs(nodes, nodes * part);
    const Elements total = sum(wide);
    const Moved scattered = move_data(PatSchedule(nodes, part, Combine::Add, transport), wide);
    RC_ASSERT(scattered.error.empty());
    for (uint32_t rank = 0; rank < nodes; ++rank) {
      const auto first = total.begin() + rank * part;
      RC_ASSERT(scattered.outputs[rank] == Elements(first, first + part));
    }
  });
}

TEST_CASE("pat: messages, lockstep and window meet what walkers require") {
  holds_for_all("form", [](uint64_t seed) {
    Transport transport = any_transport();
    transport.largest = in_range<int64_t>(0, 9);
    const Combine combine = one_of(Combine::None, Combine::Max);
    RC_ASSERT(error_in_form(PatSchedule(in_range(1U, 18U), 7, combine, transport), seed) == "");
  });
}

TEST_CASE("pat: the steps of rank 0 of 5") {
  // Parts lie in the order 0, 4, 2, 1, 3. In the rounds of distances 2 and 1, part 4 stays.
  CHECK(steps_of(PatSchedule(5, 1, Combine::None, {}), 0) ==
        "0: input[0,1) -> scratch[0,1); "
        "0: scratch[0,1) to 4; 0: from 1 -> scratch[1,2); "
        "0: scratch[0,1) to 2; 0: from 3 -> scratch[2,3); "
        "0: scratch[0,1) to 1; 0: scratch[2,3) to 1; "
        "0: from 4 -> scratch[3,4); 0: from 4 -> scratch[4,5); "
        "0: scratch[0,1) -> output[0,1); 0: scratch[1,2) -> output[1,2); "
        "0: scratch[2,3) -> output[3,4); 0: scratch[3,4) -> output[4,5); "
        "0: scratch[4,5) -> output[2,3)");
  CHECK(steps_of(PatSchedule(5, 1, Combine::Add, {}), 0) ==
        "0: input[0,1) -> scratch[0,1); 0: input[4,5) -> scratch[1,2); "
        "0: input[2,3) -> scratch[2,3); 0: input[1,2) -> scratch[3,4); "
        "0: input[3,4) -> scratch[4,5); "
        "0: scratch[3,4) to 1; 0: scratch[4,5) to 1; "
        "0: from 4 + scratch[0,1) -> scratch[0,1); 0: from 4 + scratch[2,3) -> scratch[2,3); "
        "0: scratch[2,3) to 2; 0: from 3 + scratch[0,1) -> scratch[0,1); "
        "0: scratch[1,2) to 4; 0: from 1 + scratch[0,1) -> output[0,1)");
}

TEST_CASE("pat: each part is sent n - 1 times, the fewest over the largest distance") {
  for (uint32_t n = 2; n <= 64; ++n) {
    CAPTURE(n);
    const uint32_t most = std::bit_ceil(n) / 2;
    for (const Combine combine : {Combine::None, Combine::Add}) {
      const bool gathers = combine == Combine::None;
      const Moved moved =
          move_data(PatSchedule(n, 3, combine, {}), inputs(n, gathers ? 3 : 3 * int64_t{n}));
      int64_t all = 0;
      for (const auto& [ends, elements] : moved.elements) {
        const uint32_t distance = (ends.second + n - ends.first) % n;
        CHECK(std::has_single_bit(distance));
        if (distance == most)
          CHECK(elements == 3);
        all += elements;
      }
      CHECK(all == 3 * int64_t{n} * (n - 1));
      if (std::has_single_bit(n))
        CHECK(moved.sent == std::vector<uint32_t>(n, static_cast<uint32_t>(std::bit_width(n)) - 1));
    }
  }
}

}  // namespace
}  // namespace orrery::test
