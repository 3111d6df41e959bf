#include "simulator/network/max_min.h"

#include <iterator>
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "models/base/random.h"

namespace orrery::test {
namespace {

/// Links in a row, by bandwidth.
std::vector<Link> links(const std::vector<int64_t>& bandwidths) {
  std::vector<Link> result;
  for (size_t l = 0; l < bandwidths.size(); ++l)
    result.push_back({VertexId(l), VertexId(l + 1), BytesPerSecond(bandwidths[l]), Duration()});
  return result;
}

constexpr auto kNothing = [](FlowId /*flow*/) {};

TEST_CASE("max-min: up to twelve flows share a link without a remainder") {
  const auto all = links({1});
  const Route route = {LinkId(0)};
  MaxMin network(all);
  std::vector<FlowId> flows;
  for (int64_t n = 1; n <= 12; ++n) {
    flows.push_back(network.add(route, std::nullopt));
    network.solve(kNothing);
    for (const FlowId flow : flows)
      CHECK(network.rate_of(flow).count() * n == kRateUnits);
  }
}

TEST_CASE("max-min: a share is rounded down, and the remainder is left") {
  // 13 flows on 1 B/s: 27,720 / 13 = 2,132.3 units each.
  const auto all = links({1});
  const Route route = {LinkId(0)};
  MaxMin network(all);
  std::vector<FlowId> flows;
  for (int n = 0; n < 13; ++n)
    flows.push_back(network.add(route, std::nullopt));
  network.solve(kNothing);
  for (const FlowId flow : flows)
    CHECK(network.rate_of(flow) == Rate(2'132));
}

TEST_CASE("max-min: what a flow cannot use elsewhere goes to the others") {
  // The long flow shares the first link of 2 with another: 1 each. On the second, of 10, the third
  // flow gets the 9 that are left.
  const auto all = links({2, 10});
  const Route both = {LinkId(0), LinkId(1)};
  const Route first = {LinkId(0)};
  const Route second = {LinkId(1)};
  MaxMin network(all);
  const FlowId a = network.add(both, std::nullopt);
  const FlowId b = network.add(first, std::nullopt);
  const FlowId c = network.add(second, std::nullopt);
  network.solve(kNothing);
  CHECK(network.rate_of(a) == rate(BytesPerSecond(1)));
  CHECK(network.rate_of(b) == rate(BytesPerSecond(1)));
  CHECK(network.rate_of(c) == rate(BytesPerSecond(9)));
}

TEST_CASE("max-min: a cap limits its flow and nobody else") {
  const auto all = links({10});
  const Route route = {LinkId(0)};
  MaxMin network(all);
  const FlowId capped = network.add(route, rate(BytesPerSecond(2)));
  const FlowId free = network.add(route, std::nullopt);
  network.solve(kNothing);
  CHECK(network.rate_of(capped) == rate(BytesPerSecond(2)));
  CHECK(network.rate_of(free) == rate(BytesPerSecond(8)));
  network.remove(free);
  network.solve(kNothing);
  CHECK(network.rate_of(capped) == rate(BytesPerSecond(2)));
}

TEST_CASE("max-min: only flows with a new rate are told of") {
  // The second link's flow is not joined to the first link's.
  const auto all = links({10, 10});
  const Route first = {LinkId(0)};
  const Route second = {LinkId(1)};
  MaxMin network(all);
  const FlowId a = network.add(first, std::nullopt);
  const FlowId b = network.add(second, std::nullopt);
  network.solve(kNothing);
  const FlowId c = network.add(first, std::nullopt);
  std::set<FlowId> changed;
  network.solve([&](FlowId flow) { changed.insert(flow); });
  CHECK(changed == std::set<FlowId>{a, c});
  CHECK(network.rate_of(b) == rate(BytesPerSecond(10)));
}

TEST_CASE("max-min: solving what changed gives what solving all would") {
  Random random(5);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<int64_t> bandwidths;
    for (int l = 0; l < 6; ++l)
      bandwidths.push_back(random.between(1, 1'000));
    const auto all = links(bandwidths);
    struct Wanted {
      Route route;
      std::optional<Rate> cap;
    };
    std::map<FlowId, Wanted> flows;
    MaxMin network(all);
    for (int change = 0; change < 40; ++change) {
      if (!flows.empty() && random.below(3) == 0) {
        const auto gone =
            std::next(flows.begin(), static_cast<std::ptrdiff_t>(random.below(flows.size())));
        network.remove(gone->first);
        flows.erase(gone);
      } else {
        Wanted wanted;
        for (size_t l = 0; l < bandwidths.size(); ++l)
          if (random.below(3) == 0)
            wanted.route.emplace_back(l);
        if (wanted.route.empty())
          continue;
        if (random.below(3) == 0)
          wanted.cap = Rate(random.between(kRateUnits, 500 * kRateUnits));
        flows[network.add(wanted.route, wanted.cap)] = wanted;
      }
      if (random.below(2) == 0)
        continue;
      network.solve(kNothing);
      MaxMin fresh(all);
      std::map<FlowId, FlowId> same;
      for (const auto& [id, wanted] : flows)
        same[id] = fresh.add(wanted.route, wanted.cap);
      fresh.solve(kNothing);
      for (const auto& [id, wanted] : flows)
        REQUIRE(network.rate_of(id) == fresh.rate_of(same[id]));
    }
  }
}

TEST_CASE("max-min: a share below one unit is refused") {
  const auto all = links({1});
  const Route route = {LinkId(0)};
  MaxMin network(all);
  for (int64_t n = 0; n <= kRateUnits; ++n)
    network.add(route, std::nullopt);
  CHECK_THROWS_WITH_AS(network.solve(kNothing),
                       "a flow's share of a link is less than 1/27,720 byte per second", Overflow);
}

}  // namespace
}  // namespace orrery::test
