// Tests recursive doubling by interpreting its steps (interpreter.h).

#include "simulator/algorithm/recursive_doubling.h"

#include <doctest/doctest.h>

#include "tests/simulator/algorithm/any_transport.h"
#include "tests/simulator/algorithm/form.h"
#include "tests/simulator/algorithm/interpreter.h"
#include "tests/support/property.h"

namespace orrery {
namespace {

using test::any_transport;

TEST_CASE("recursive doubling: every rank gets the sum, for any number of ranks") {
  test::holds_for_all("sum", [] {
    const auto nodes = test::in_range(1U, 18U);
    const auto count = test::in_range<int64_t>(0, 201);
    const RecursiveDoublingSchedule schedule(nodes, count, Combine::Add, any_transport());
    const auto inputs = test::inputs(nodes, count);
    const test::Moved moved = test::move_data(schedule, inputs);
    RC_ASSERT(moved.error.empty());
    for (const test::Elements& output : moved.outputs)
      RC_ASSERT(output == test::sum(inputs));
  });
}

TEST_CASE("recursive doubling: messages, lockstep and window meet what walkers require") {
  test::holds_for_all("form", [](uint64_t seed) {
    const auto nodes = test::in_range(1U, 18U);
    const RecursiveDoublingSchedule schedule(nodes, 40, Combine::Max, any_transport());
    RC_ASSERT(test::error_in_form(schedule, seed) == "");
  });
}

TEST_CASE("recursive doubling: only a power of two runs in lockstep") {
  for (const uint32_t nodes : {1U, 2U, 4U, 8U, 16U})
    CHECK(RecursiveDoublingSchedule(nodes, 1, Combine::Add, {}).extent().lockstep);
  for (const uint32_t nodes : {3U, 5U, 7U, 9U})
    CHECK_FALSE(RecursiveDoublingSchedule(nodes, 1, Combine::Add, {}).extent().lockstep);
}

TEST_CASE("recursive doubling: a core rank sends all its data once a round, a surplus rank once") {
  // For n = 6, p = 4, and there are two rounds. Ranks 0 and 1 hand the result to ranks 4 and 5.
  const RecursiveDoublingSchedule schedule(6, 10, Combine::Add, {});
  const test::Moved moved = test::move_data(schedule, test::inputs(6, 10));
  CHECK(moved.sent == std::vector<uint32_t>{3, 3, 2, 2, 1, 1});
  for (const auto& [ends, elements] : moved.elements)
    CHECK(elements == 10);
}

}  // namespace
}  // namespace orrery
