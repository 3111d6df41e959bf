// Tests the exchange of slices of any sizes.

#include "simulator/algorithm/ragged_exchange.h"

#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "simulator/algorithm/direct_all_to_all.h"
#include "tests/simulator/algorithm/any_transport.h"
#include "tests/simulator/algorithm/form.h"
#include "tests/simulator/algorithm/interpreter.h"
#include "tests/simulator/algorithm/random_ragged.h"
#include "tests/support/property.h"

namespace orrery::test {
namespace {

/// Returns the steps by channel: "0: input[0,3) to 4" and "1: from 2 -> output[0,3)".
std::vector<std::string> step_texts(const Schedule& schedule, uint32_t node) {
  std::vector<std::string> all;
  for (uint32_t c = 0; c < schedule.extent().channels; ++c)
    for (uint32_t s = 0; s < schedule.steps(Node(node), Channel(c)); ++s) {
      const Step step = schedule.step({Node(node), Channel(c), s});
      std::string& text = all.emplace_back(fmt::format("{}:", c));
      if (step.from)
        text += fmt::format(" from {}", step.from->index());
      for (const auto& [slice, arrow] : {std::pair(step.source, ""), std::pair(step.target, " ->")})
        if (slice)
          text += fmt::format("{} {}[{},{})", arrow, name(slice->area), slice->first,
                              slice->first + slice->count);
      if (step.to)
        text += fmt::format(" to {}", step.to->index());
    }
  return all;
}

using Steps = std::vector<std::string>;

/// Returns an exchange of two ranks with operands and outputs of 4 elements. Rank 0 keeps one
/// element at 3 and sends three; rank 1 sends one back.
RaggedSlices example() {
  return {2,
          4,
          4,
          {{Node(0), Node(0), 0, 3, 1}, {Node(0), Node(1), 1, 0, 3}, {Node(1), Node(0), 2, 1, 1}}};
}

TEST_CASE("ragged: a rank sends its slices, and keeps what none overwrites") {
  const RaggedExchangeSchedule schedule(example(), {});
  // Output elements that stay are read behind the operand: elements 0 and 2 of rank 0, 3 of rank 1.
  CHECK(step_texts(schedule, 0) ==
        Steps{"0: input[0,1) -> output[3,4)", "0: input[4,5) -> output[0,1)",
              "0: input[6,7) -> output[2,3)", "1: input[1,4) to 1", "1: from 1 -> output[1,2)"});
  CHECK(step_texts(schedule, 1) ==
        Steps{"0: input[7,8) -> output[3,4)", "1: input[2,3) to 0", "1: from 0 -> output[0,3)"});
}

TEST_CASE("ragged: a slice is cut by itself, and sends and receives take turns") {
  Transport transport;
  transport.largest = 1;
  const RaggedExchangeSchedule schedule(example(), transport);
  CHECK(step_texts(schedule, 1) == Steps{"0: input[7,8) -> output[3,4)", "1: input[2,3) to 0",
                                         "1: from 0 -> output[0,1)", "1: from 0 -> output[1,2)",
                                         "1: from 0 -> output[2,3)"});
  CHECK(schedule.largest_message() == 1);
}

TEST_CASE("ragged: a slice without elements is no message") {
  const RaggedExchangeSchedule schedule({3, 4, 4, {{Node(0), Node(2), 0, 0, 4}}}, {});
  CHECK(step_texts(schedule, 0) == Steps{"0: input[4,8) -> output[0,4)", "2: input[0,4) to 2"});
  CHECK(step_texts(schedule, 1) == Steps{"0: input[4,8) -> output[0,4)"});
  CHECK(step_texts(schedule, 2) == Steps{"2: from 0 -> output[0,4)"});
}

TEST_CASE("ragged: what ranks send each other comes where it says, cut or not") {
  holds_for_all("ragged", [](uint64_t seed) {
    Random random(seed);
    const auto nodes = in_range(1U, 9U);
    const auto row = in_range<int64_t>(1, 5);
    const auto slices = in_range<size_t>(1, 4);
    const RaggedGroup group = random_tables(random, nodes, slices, 5);
    Transport transport = any_transport();
    transport.largest = in_range<int64_t>(0, 5);
    const RaggedExchangeSchedule schedule(slices_of(group, row), transport);
    const auto inputs = test::inputs(nodes, (group.operand_rows + group.output_rows) * row);
    const Moved moved = move_data(schedule, inputs);
    RC_ASSERT(moved.error.empty());
    // The reference needs operands and outputs as lists of rows.
    using Rows = std::vector<Elements>;
    std::vector<Rows> operands(nodes);
    std::vector<Rows> outputs(nodes);
    for (size_t n = 0; n < nodes; ++n)
      for (int64_t i = 0; i < group.operand_rows + group.output_rows; ++i)
        (i < group.operand_rows ? operands : outputs)[n].emplace_back(
            inputs[n].begin() + i * row, inputs[n].begin() + (i + 1) * row);
    const std::vector<Rows> results = point_to_point(group, operands, outputs);
    for (size_t n = 0; n < nodes; ++n) {
      Elements expected;
      for (const Elements& each : results[n])
        expected.insert(expected.end(), each.begin(), each.end());
      RC_ASSERT(moved.outputs[n] == expected);
    }
    RC_ASSERT(error_in_form(schedule, seed) == "");
  });
}

TEST_CASE("ragged: of equal dense slices it is the direct all-to-all, step for step") {
  for (uint32_t nodes = 1; nodes <= 5; ++nodes)
    for (uint32_t channels = 1; channels <= 3; ++channels) {
      const std::vector<std::vector<int64_t>> sizes = {{7}};
      const RaggedGroup group = AssumedSizes(sizes, {nodes, nodes, 7 * nodes, 7 * nodes}).group();
      Transport transport;
      transport.channels = channels;
      const RaggedExchangeSchedule ragged(slices_of(group, 1), transport);
      const DirectAllToAllSchedule direct(nodes, 7, transport);
      CHECK(ragged.extent().channels == direct.extent().channels);
      CHECK(ragged.extent().lockstep);
      for (uint32_t n = 0; n < nodes; ++n)
        CHECK(step_texts(ragged, n) == step_texts(direct, n));
    }
}

}  // namespace
}  // namespace orrery::test
