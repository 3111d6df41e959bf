// Tests the chain by interpreting its steps (interpreter.h), and by checks of its form (form.h).

#include "simulator/algorithm/chain.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "simulator/algorithm/algorithms.h"
#include "tests/simulator/algorithm/any_transport.h"
#include "tests/simulator/algorithm/form.h"
#include "tests/simulator/algorithm/interpreter.h"
#include "tests/support/property.h"

namespace orrery::test {
namespace {

struct Case {
  uint32_t nodes;
  int64_t count;
  Node source;
  Transport transport;
  SharedList<SharedList<uint32_t>> orders;

  std::unique_ptr<const ChainSchedule> make() const {
    return std::make_unique<const ChainSchedule>(nodes, count, source, transport, orders);
  }
};

/// Returns up to two orders of the ranks.
SharedList<SharedList<uint32_t>> any_orders(uint32_t ranks) {
  std::vector<SharedList<uint32_t>> orders;
  for (uint32_t order = in_range(0U, 3U); order > 0; --order) {
    std::vector<uint32_t> left(ranks);
    std::iota(left.begin(), left.end(), 0U);
    std::vector<uint32_t> ranks_in_order;
    while (!left.empty()) {
      const auto next = left.begin() + in_range<ptrdiff_t>(0, std::ssize(left));
      ranks_in_order.push_back(*next);
      left.erase(next);
    }
    orders.emplace_back(std::move(ranks_in_order));
  }
  return orders;
}

Case any_case() {
  const auto nodes = in_range(1U, 18U);
  return {nodes, in_range<int64_t>(0, 201), Node(in_range(0U, nodes)), any_transport(),
          any_orders(nodes)};
}

TEST_CASE("chain: every rank gets the source's elements, from any source, whole and cut") {
  holds_for_all("broadcast", [] {
    const Case c = any_case();
    const auto data = inputs(c.nodes, c.count);
    const Moved whole = move_data(*c.make(), data);
    RC_ASSERT(whole.error.empty());
    for (const Elements& output : whole.outputs)
      RC_ASSERT(output == data[c.source.index()]);
    if (c.nodes > 1)  // without messages nothing is cut
      RC_ASSERT(move_data(*cut(c.make(), 7), data).outputs == whole.outputs);
  });
}

TEST_CASE("chain: messages, lockstep and window meet what walkers require, whole and cut") {
  holds_for_all("form", [](uint64_t seed) {
    const Case c = any_case();
    RC_ASSERT(error_in_form(*c.make(), seed) == "");
    if (c.nodes > 1)
      RC_ASSERT(error_in_form(*cut(c.make(), 7), seed) == "");
  });
}

TEST_CASE("chain: the steps of 4 ranks from rank 2, 5 elements on 2 channels") {
  // The chain is 2, 3, 0, 1. The first channel has 3 elements, the second channel the other 2.
  Transport transport;
  transport.channels = 2;
  const ChainSchedule chain(4, 5, Node(2), transport);
  const Slice first{Area::Output, 0, 3};
  const Slice second{Area::Output, 3, 2};
  const Step source = chain.step({Node(2), Channel(1), 0});
  CHECK(source.source == Slice{Area::Input, 3, 2});
  CHECK(source.target == second);
  CHECK(!source.from);
  CHECK(source.to == Node(3));
  const Step middle = chain.step({Node(0), Channel(0), 0});
  CHECK(!middle.source);
  CHECK(middle.target == first);
  CHECK(middle.from == Node(3));
  CHECK(middle.to == Node(1));
  const Step last = chain.step({Node(1), Channel(1), 0});
  CHECK(!last.source);
  CHECK(last.target == second);
  CHECK(last.from == Node(0));
  CHECK(!last.to);
}

TEST_CASE("chain: each channel goes on from the source in its own order") {
  Transport transport;
  transport.channels = 2;
  const std::vector<SharedList<uint32_t>> orders = {SharedList<uint32_t>({0, 2, 1}),
                                                    SharedList<uint32_t>({0, 1, 2})};
  const ChainSchedule chain(3, 6, Node(2), transport, orders);
  CHECK(chain.step({Node(2), Channel(0), 0}).to == Node(1));
  CHECK(chain.step({Node(1), Channel(0), 0}).to == Node(0));
  CHECK(!chain.step({Node(0), Channel(0), 0}).to);
  CHECK(chain.step({Node(2), Channel(1), 0}).to == Node(0));
  CHECK(chain.step({Node(0), Channel(1), 0}).to == Node(1));
  CHECK(!chain.step({Node(1), Channel(1), 0}).to);
}

TEST_CASE("chain: over nodes, the source's node comes first in each order, and the source in it") {
  const std::vector<const Algorithm*> all = algorithms_for(OpKind::Pbroadcast);
  const auto ring = std::ranges::find(all, "ring", &Algorithm::name);
  REQUIRE(ring != all.end());
  ScheduleRequest request;
  request.kind = OpKind::Pbroadcast;
  request.nodes = 5;
  request.elements = 4;
  request.transport.channels = 2;
  // Two ranks on the first node, and three on the other one.
  request.layout.orders = std::vector<SharedList<uint32_t>>{SharedList<uint32_t>({0, 1, 4, 3, 2}),
                                                            SharedList<uint32_t>({1, 0, 2, 4, 3})};
  request.layout.nodes = std::vector<uint32_t>{2, 3};
  const auto chain = [&](uint32_t source, uint32_t channel) {
    request.source = Node(source);
    const std::unique_ptr<const Schedule> made = (*ring)->make(request);
    std::vector<uint32_t> ranks = {source};
    while (const auto to = made->step({Node(ranks.back()), Channel(channel), 0}).to)
      ranks.push_back(to->index());
    return ranks;
  };
  using Ranks = std::vector<uint32_t>;
  CHECK(chain(1, 0) == Ranks{1, 0, 4, 3, 2});
  CHECK(chain(1, 1) == Ranks{1, 0, 2, 4, 3});
  CHECK(chain(3, 0) == Ranks{3, 4, 2, 0, 1});
  CHECK(chain(3, 1) == Ranks{3, 2, 4, 1, 0});
}

TEST_CASE("chain: a group of one copies and sends nothing") {
  const ChainSchedule chain(1, 5, Node(0), {});
  CHECK(chain.largest_message() == 0);
  const Step step = chain.step({Node(0), Channel(0), 0});
  CHECK(step.source == Slice{Area::Input, 0, 5});
  CHECK(step.target == Slice{Area::Output, 0, 5});
  CHECK(!step.from);
  CHECK(!step.to);
}

TEST_CASE("chain: all but the last rank send all elements once") {
  const ChainSchedule chain(5, 100, Node(3), {});
  const Moved moved = move_data(chain, inputs(5, 100));
  CHECK(moved.sent == std::vector<uint32_t>{1, 1, 0, 1, 1});  // the chain is 3, 4, 0, 1, 2
  for (const auto& [ends, elements] : moved.elements)
    CHECK(elements == 100);
}

}  // namespace
}  // namespace orrery::test
