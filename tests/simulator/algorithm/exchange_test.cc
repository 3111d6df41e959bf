// Tests exchanges by interpreting their steps (interpreter.h), against their definitions.

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "simulator/algorithm/direct.h"
#include "simulator/algorithm/direct_all_to_all.h"
#include "simulator/algorithm/pairwise.h"
#include "tests/simulator/algorithm/any_transport.h"
#include "tests/simulator/algorithm/form.h"
#include "tests/simulator/algorithm/interpreter.h"
#include "tests/support/property.h"

namespace orrery {
namespace {

using test::any_transport;
using test::Elements;

/// Returns the result of an exchange: part q of rank r's result is part r of rank q's input.
std::vector<Elements> exchanged(const std::vector<Elements>& inputs, int64_t part) {
  std::vector<Elements> result(inputs.size());
  for (size_t r = 0; r < inputs.size(); ++r)
    for (const Elements& input : inputs)
      for (int64_t j = 0; j < part; ++j)
        result[r].push_back(input[r * static_cast<size_t>(part) + static_cast<size_t>(j)]);
  return result;
}

TEST_CASE("direct all-to-all: part q of rank r goes to rank q as its part r") {
  test::holds_for_all("exchange", [](uint64_t seed) {
    const auto nodes = test::in_range(1U, 18U);
    const auto part = test::in_range<int64_t>(0, 12);
    const DirectAllToAllSchedule schedule(nodes, part, any_transport());
    const auto inputs = test::inputs(nodes, nodes * part);
    const test::Moved moved = test::move_data(schedule, inputs);
    RC_ASSERT(moved.error.empty());
    RC_ASSERT(moved.outputs == exchanged(inputs, part));
    RC_ASSERT(test::error_in_form(schedule, seed) == "");
    RC_ASSERT(schedule.extent().lockstep);
  });
}

TEST_CASE("pairwise all-to-all: part q of rank r goes to rank q as its part r") {
  test::holds_for_all("exchange", [](uint64_t seed) {
    const auto nodes = test::in_range(1U, 18U);
    const auto part = test::in_range<int64_t>(0, 12);
    const PairwiseSchedule schedule(nodes, part, any_transport());
    const auto inputs = test::inputs(nodes, nodes * part);
    const test::Moved moved = test::move_data(schedule, inputs);
    RC_ASSERT(moved.error.empty());
    RC_ASSERT(moved.outputs == exchanged(inputs, part));
    RC_ASSERT(test::error_in_form(schedule, seed) == "");
    RC_ASSERT(schedule.extent().lockstep);
  });
}

TEST_CASE("all-to-all: each rank sends one part to each other, and none to itself") {
  for (const uint32_t nodes : {1U, 2U, 5U}) {
    const DirectAllToAllSchedule direct(nodes, 3, {});
    const PairwiseSchedule pairwise(nodes, 3, {});
    for (const Schedule* schedule :
         {static_cast<const Schedule*>(&direct), static_cast<const Schedule*>(&pairwise)}) {
      const test::Moved moved = test::move_data(*schedule, test::inputs(nodes, nodes * 3));
      CHECK(moved.elements.size() == nodes * (nodes - 1));
      for (const auto& [ends, elements] : moved.elements)
        CHECK(elements == 3);
    }
  }
}

TEST_CASE("direct permute: destinations get their source's elements, others zeros") {
  test::holds_for_all("permute", [](uint64_t seed) {
    const auto nodes = test::in_range(1U, 18U);
    const auto count = test::in_range<int64_t>(0, 20);
    std::vector<uint32_t> to(nodes);
    for (uint32_t r = 0; r < nodes; ++r)
      to[r] = r;
    Random random(seed);
    for (uint32_t r = nodes; r-- > 1;)
      std::swap(to[r], to[random.below(r + 1)]);
    std::vector<SourceDestination> pairs;
    const auto inputs = test::inputs(nodes, count);
    std::vector<Elements> expected(nodes, Elements(static_cast<size_t>(count), 0));
    for (uint32_t r = 0; r < nodes; ++r) {
      if (random.below(4) == 0)
        continue;
      pairs.push_back({Node(r), Node(to[r])});
      expected[to[r]] = inputs[r];
    }
    const auto schedule = direct_permute(nodes, count, pairs, any_transport());
    const test::Moved moved = test::move_data(*schedule, inputs);
    RC_ASSERT(moved.error.empty());
    RC_ASSERT(moved.outputs == expected);
    RC_ASSERT(test::error_in_form(*schedule, seed) == "");
  });
}

TEST_CASE("direct permute: a shift without its last pair leaves the end ranks half idle") {
  // Rank 0 only sends, rank 2 only receives, and rank 1 does both.
  const auto schedule = direct_permute(3, 4, {{Node(0), Node(1)}, {Node(1), Node(2)}}, {});
  CHECK(schedule->steps(Node(0), Channel(0)) == 1);
  CHECK(schedule->steps(Node(1), Channel(0)) == 2);
  CHECK(schedule->steps(Node(2), Channel(0)) == 1);
  CHECK(schedule->extent().zero_output);
  CHECK_FALSE(schedule->extent().lockstep);
}

}  // namespace
}  // namespace orrery
