// Tests Bruck's algorithms by interpreting their steps (interpreter.h).

#include "simulator/algorithm/bruck.h"

#include <bit>

#include <doctest/doctest.h>

#include "tests/simulator/algorithm/any_transport.h"
#include "tests/simulator/algorithm/form.h"
#include "tests/simulator/algorithm/interpreter.h"
#include "tests/simulator/algorithm/steps_text.h"
#include "tests/support/property.h"

namespace orrery::test {
namespace {

TEST_CASE("bruck: every rank gets the parts of all, or its part of all") {
  holds_for_all("values", [] {
    const auto nodes = in_range(1U, 34U);
    const auto part = in_range<int64_t>(0, 9);
    Transport transport = any_transport();
    transport.largest = in_range<int64_t>(0, 9);

    const auto own = inputs(nodes, part);
    Elements all;
    for (const Elements& each : own)
      all.insert(all.end(), each.begin(), each.end());
    const Moved gathered =
        move_data(BruckSchedule(BruckSchedule::Form::AllGather, nodes, part, transport), own);
    RC_ASSERT(gathered.error.empty());
    for (const Elements& output : gathered.outputs)
      RC_ASSERT(output == all);

    const auto wide = inputs(nodes, nodes * part);
    const Moved exchanged =
        move_data(BruckSchedule(BruckSchedule::Form::AllToAll, nodes, part, transport), wide);
    RC_ASSERT(exchanged.error.empty());
    for (uint32_t rank = 0; rank < nodes; ++rank) {
      Elements expected;
      for (const Elements& each : wide) {
        const auto first = each.begin() + rank * part;
        expected.insert(expected.end(), first, first + part);
      }
      RC_ASSERT(exchanged.outputs[rank] == expected);
    }
  });
}

TEST_CASE("bruck: messages, lockstep and window meet what walkers require") {
  holds_for_all("form", [](uint64_t seed) {
    const auto form = one_of(BruckSchedule::Form::AllGather, BruckSchedule::Form::AllToAll);
    Transport transport = any_transport();
    transport.largest = in_range<int64_t>(0, 9);
    RC_ASSERT(error_in_form(BruckSchedule(form, in_range(1U, 18U), 7, transport), seed) == "");
  });
}

TEST_CASE("bruck: the steps of rank 1 of 3") {
  CHECK(steps_of(BruckSchedule(BruckSchedule::Form::AllGather, 3, 2, {}), 1) ==
        "0: input[0,2) -> scratch[0,2); 0: scratch[0,2) to 0; 0: from 2 -> scratch[2,4); "
        "0: scratch[0,2) to 2; 0: from 0 -> scratch[4,6); 0: scratch[0,2) -> output[2,4); "
        "0: scratch[2,4) -> output[4,6); 0: scratch[4,6) -> output[0,2)");
  // Part 1 of scratch arrives in the first round from rank 0, and part 2 in the second from rank 2.
  CHECK(steps_of(BruckSchedule(BruckSchedule::Form::AllToAll, 3, 2, {}), 1) ==
        "0: input[4,6) -> scratch[0,2); 0: scratch[0,2) to 2; 0: from 0 -> scratch[2,4); "
        "0: input[0,2) -> scratch[0,2); 0: scratch[0,2) to 0; 0: from 2 -> scratch[4,6); "
        "0: input[2,4) -> output[2,4); 0: scratch[2,4) -> output[0,2); "
        "0: scratch[4,6) -> output[4,6)");
}

TEST_CASE("bruck: a rank sends ceil(log2 n) messages, and each part once a bit of its distance") {
  for (uint32_t n = 1; n <= 64; ++n) {
    CAPTURE(n);
    const auto rounds = static_cast<uint32_t>(std::bit_width(n - 1));
    int64_t hops = 0;
    for (uint32_t distance = 1; distance < n; ++distance)
      hops += std::popcount(distance);
    const auto check = [&](BruckSchedule::Form form, int64_t parts, int64_t sent) {
      const Moved moved = move_data(BruckSchedule(form, n, 3, {}), inputs(n, parts * 3));
      CHECK(moved.sent == std::vector<uint32_t>(n, rounds));
      int64_t all = 0;
      for (const auto& [ends, elements] : moved.elements)
        all += elements;
      CHECK(all == 3 * n * sent);
    };
    check(BruckSchedule::Form::AllGather, 1, int64_t{n} - 1);
    check(BruckSchedule::Form::AllToAll, n, hops);
  }
}

}  // namespace
}  // namespace orrery::test
