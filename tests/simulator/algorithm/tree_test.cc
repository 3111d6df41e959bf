// Tests the double binary tree by interpreting its steps (interpreter.h), and by its edges.

#include "simulator/algorithm/tree.h"

#include <bit>
#include <set>

#include <doctest/doctest.h>

#include "simulator/algorithm/algorithms.h"
#include "tests/simulator/algorithm/any_transport.h"
#include "tests/simulator/algorithm/form.h"
#include "tests/simulator/algorithm/interpreter.h"
#include "tests/simulator/algorithm/steps_text.h"
#include "tests/support/property.h"

namespace orrery::test {
namespace {

TEST_CASE("tree: every rank gets the sum, for any machines, whole and cut") {
  holds_for_all("sum", [] {
    const auto nodes = in_range(1U, 34U);
    const auto count = in_range<int64_t>(0, 101);
    const auto together = in_range(1U, 10U);
    const Transport transport = any_transport();
    const auto data = inputs(nodes, count);
    const auto make = [&] {
      return std::make_unique<const TreeSchedule>(nodes, count, Combine::Add, together, transport);
    };
    const Moved whole = move_data(*make(), data);
    RC_ASSERT(whole.error.empty());
    for (const Elements& output : whole.outputs)
      RC_ASSERT(output == sum(data));
    if (nodes > 1)  // without messages nothing is cut
      RC_ASSERT(move_data(*cut(make(), 7), data).outputs == whole.outputs);
  });
}

TEST_CASE("tree: messages and window meet what walkers require, whole and cut") {
  holds_for_all("form", [](uint64_t seed) {
    const auto nodes = in_range(1U, 18U);
    const auto together = in_range(1U, 6U);
    const Transport transport = any_transport();
    const auto make = [&] {
      return std::make_unique<const TreeSchedule>(nodes, 40, Combine::Max, together, transport);
    };
    RC_ASSERT(error_in_form(*make(), seed) == "");
    if (nodes > 1)
      RC_ASSERT(error_in_form(*cut(make(), 7), seed) == "");
  });
}

TEST_CASE("tree: the steps of 3 ranks, and of a machine of 2 beside one of 1") {
  // The first tree has rank 1 above ranks 0 and 2, and the second rank 2 above ranks 1 and 0. Their
  // channels up are 0 and 1. Those for the first child are 2 and 3, for the second 4 and 5.
  const TreeSchedule three(3, 4, Combine::Add, 1, {});
  CHECK(steps_of(three, 0) ==
        "0: input[0,2) to 1; 1: input[2,4) to 2; 2: from 1 -> output[0,2); "
        "5: from 2 -> output[2,4)");
  CHECK(steps_of(three, 1) ==
        "0: from 0 + input[0,2) -> output[0,2); 0: from 2 + output[0,2) -> output[0,2); "
        "1: input[2,4) to 2; 2: output[0,2) to 0 after 0; 3: from 2 -> output[2,4); "
        "4: output[0,2) to 2 after 0");
  // In the first tree, rank 2 of the second machine is above rank 0 of the first one, and rank 1
  // follows in the chain of rank 0.
  const TreeSchedule machines(3, 4, Combine::Add, 2, {});
  CHECK(steps_of(machines, 0) ==
        "0: from 1 + input[0,2) to 2; 1: from 1 + input[2,4) -> output[2,4); "
        "1: from 2 + output[2,4) -> output[2,4); 2: from 2 -> output[0,2); 2: output[0,2) to 1; "
        "3: output[2,4) to 1 after 1; 5: output[2,4) to 2 after 1");
}

/// Returns the ranks with more than one neighbour up and down in a lane: those that have children.
std::set<uint32_t> inner_of(const TreeSchedule& tree, uint32_t lane) {
  std::set<uint32_t> inner;
  for (uint32_t rank = 0; rank < tree.extent().ranks(); ++rank)
    if (tree.step({Node(rank), Channel(lane), 0}).from)
      inner.insert(rank);
  return inner;
}

TEST_CASE("tree: no rank is an inner node of both trees, and each is a tree of log2 n levels") {
  for (uint32_t n = 2; n <= 200; ++n) {
    CAPTURE(n);
    const TreeSchedule tree(n, 8, Combine::Add, 1, {});
    const std::set<uint32_t> first = inner_of(tree, 0);
    const std::set<uint32_t> second = inner_of(tree, 1);
    for (const uint32_t rank : first)
      CHECK(second.count(rank) == 0);
    for (const uint32_t lane : {0U, 1U}) {
      uint32_t roots = 0;
      for (uint32_t rank = 0; rank < n; ++rank) {
        uint32_t levels = 0;
        for (uint32_t at = rank;; ++levels) {
          const uint32_t last = tree.steps(Node(at), Channel(lane)) - 1;
          const std::optional<Node> up = tree.step({Node(at), Channel(lane), last}).to;
          if (!up)
            break;
          at = up->index();
        }
        roots += levels == 0 ? 1 : 0;
        CHECK(levels < static_cast<uint32_t>(std::bit_width(n)));
      }
      CHECK(roots == 1);
    }
  }
}

TEST_CASE("tree: pairs of lanes enter a machine at different ranks") {
  Transport transport;
  transport.channels = 8;  // 4 pairs
  const TreeSchedule tree(32, 64, Combine::Add, 4, transport);
  for (uint32_t machine = 0; machine < 8; ++machine) {
    std::set<uint32_t> heads;
    for (uint32_t lane = 0; lane < 8; ++lane)
      for (uint32_t rank = 4 * machine; rank < 4 * machine + 4; ++rank)
        for (uint32_t i = 0; i < tree.steps(Node(rank), Channel(lane)); ++i)
          if (const std::optional<Node> to = tree.step({Node(rank), Channel(lane), i}).to)
            if (to->index() / 4 != machine)
              heads.insert(rank);
    CHECK(heads.size() == 4);
  }
}

TEST_CASE("tree: between machines a lane sends its share once up and once down") {
  const TreeSchedule tree(24, 16, Combine::Add, 4, {});
  const Moved moved = move_data(tree, inputs(24, 16));
  int64_t between = 0;
  int64_t within = 0;
  for (const auto& [ends, elements] : moved.elements)
    (ends.first / 4 == ends.second / 4 ? within : between) += elements;
  CHECK(between == 2 * 16 * (6 - 1));  // two trees, each with half of the data
  CHECK(within == 2 * 16 * 6 * (4 - 1));
}

TEST_CASE("tree: one rank copies") {
  const TreeSchedule one(1, 4, Combine::Add, 1, {});
  CHECK(steps_of(one, 0) == "0: input[0,2) -> output[0,2); 1: input[2,4) -> output[2,4)");
  CHECK(one.largest_message() == 0);
}

}  // namespace
}  // namespace orrery::test
