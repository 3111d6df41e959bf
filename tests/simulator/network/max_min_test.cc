// Tests max-min rates by hand, and random flows against progressive filling of all at once.

#include "simulator/network/max_min.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "tests/models/fabric/shortest_route.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

/// Returns a chain of links with these bandwidths.
std::vector<Link> links(const std::vector<int64_t>& bandwidths) {
  std::vector<Link> result;
  for (size_t l = 0; l < bandwidths.size(); ++l)
    result.push_back({VertexId(l), VertexId(l + 1), BytesPerSecond(bandwidths[l]), Duration()});
  return result;
}

constexpr auto kNothing = [](FlowId /*flow*/, Rate /*before*/) {};

TEST_CASE("max-min: up to twelve flows share a link without a remainder") {
  const auto all = links({1});
  const LinkList route = {LinkId(0)};
  MaxMin network(all);
  std::vector<FlowId> flows;
  for (int64_t n = 1; n <= 12; ++n) {
    flows.push_back(network.add(route, std::nullopt));
    network.solve(kNothing);
    for (const FlowId flow : flows)
      CHECK(network.rate_of(flow).count() * n == kRateUnits);
  }
}

TEST_CASE("max-min: a share is rounded down, and the remainder stays unused") {
  // 13 flows on 1 B/s get 27,720 / 13 = 2,132.3 units each.
  const auto all = links({1});
  const LinkList route = {LinkId(0)};
  MaxMin network(all);
  std::vector<FlowId> flows;
  for (int n = 0; n < 13; ++n)
    flows.push_back(network.add(route, std::nullopt));
  network.solve(kNothing);
  for (const FlowId flow : flows)
    CHECK(network.rate_of(flow) == Rate(2'132));
}

TEST_CASE("max-min: what a flow cannot use on another link goes to the others") {
  // The long flow shares the first link, of 2, with another flow: each gets 1. On the second link,
  // of 10, the third flow gets the remaining 9.
  const auto all = links({2, 10});
  const LinkList both = {LinkId(0), LinkId(1)};
  const LinkList first = {LinkId(0)};
  const LinkList second = {LinkId(1)};
  MaxMin network(all);
  const FlowId a = network.add(both, std::nullopt);
  const FlowId b = network.add(first, std::nullopt);
  const FlowId c = network.add(second, std::nullopt);
  network.solve(kNothing);
  CHECK(network.rate_of(a) == rate(BytesPerSecond(1)));
  CHECK(network.rate_of(b) == rate(BytesPerSecond(1)));
  CHECK(network.rate_of(c) == rate(BytesPerSecond(9)));
}

TEST_CASE("max-min: a cap limits only its own flow") {
  const auto all = links({10});
  const LinkList route = {LinkId(0)};
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

TEST_CASE("max-min: a flow that stands for several has the rate of each of them") {
  // Four flows share a link of 8: each gets 2. Three of them end together.
  const auto all = links({8});
  const LinkList route = {LinkId(0)};
  MaxMin network(all);
  const FlowId three = network.add(route, std::nullopt, 3);
  const FlowId one = network.add(route, std::nullopt);
  network.solve(kNothing);
  CHECK(network.rate_of(three) == rate(BytesPerSecond(2)));
  CHECK(network.rate_of(one) == rate(BytesPerSecond(2)));
  network.remove(three);
  network.solve(kNothing);
  CHECK(network.rate_of(one) == rate(BytesPerSecond(8)));
}

TEST_CASE("max-min: only flows whose rate changed are reported") {
  // The flow on the second link shares no link with those on the first.
  const auto all = links({10, 10});
  const LinkList first = {LinkId(0)};
  const LinkList second = {LinkId(1)};
  MaxMin network(all);
  const FlowId a = network.add(first, std::nullopt);
  const FlowId b = network.add(second, std::nullopt);
  network.solve(kNothing);
  const FlowId c = network.add(first, std::nullopt);
  std::set<FlowId> changed;
  network.solve([&](FlowId flow, Rate /*before*/) { changed.insert(flow); });
  CHECK(changed == std::set<FlowId>{a, c});
  CHECK(network.rate_of(b) == rate(BytesPerSecond(10)));
}

struct Wanted {
  LinkList route;
  std::optional<Rate> cap;
};

/// Does progressive filling as max_min.h defines it, over all flows and links at once.
std::map<FlowId, Rate> filled(const std::vector<Link>& links,
                              const std::map<FlowId, Wanted>& flows) {
  struct Limit {
    int64_t residual;
    std::vector<FlowId> unfixed;
  };
  std::vector<Limit> limits;
  for (const Link& link : links)
    limits.push_back({rate(link.bandwidth).count(), {}});
  for (const auto& [id, flow] : flows) {
    for (const LinkId link : flow.route)
      limits[link.index()].unfixed.push_back(id);
    if (flow.cap)
      limits.push_back({flow.cap->count(), {id}});
  }
  std::map<FlowId, Rate> rates;
  while (rates.size() < flows.size()) {
    const auto less = [](const Limit& a, const Limit& b) {
      if (a.unfixed.empty() || b.unfixed.empty())
        return !a.unfixed.empty() && b.unfixed.empty();
      return Int128{a.residual} * static_cast<int64_t>(b.unfixed.size()) <
             Int128{b.residual} * static_cast<int64_t>(a.unfixed.size());
    };
    const Limit least = *std::min_element(limits.begin(), limits.end(), less);
    const int64_t share = least.residual / static_cast<int64_t>(least.unfixed.size());
    std::set<FlowId> now;
    for (const Limit& limit : limits)
      if (!limit.unfixed.empty() && !less(least, limit))
        now.insert(limit.unfixed.begin(), limit.unfixed.end());
    for (const FlowId id : now)
      rates[id] = Rate(share);
    for (Limit& limit : limits)
      limit.residual -= share * static_cast<int64_t>(std::erase_if(
                                    limit.unfixed, [&](FlowId id) { return now.contains(id); }));
  }
  return rates;
}

TEST_CASE(
    "max-min: solving after a change gives the same rates as solving all, and reports changes") {
  Random random(5);
  for (uint64_t trial = 0; trial < tries(1'000); ++trial) {
    // Few values of bandwidths and caps give ties; many values give remainders.
    const int64_t most = random.below(2) == 0 ? 4 : 1'000;
    std::vector<int64_t> bandwidths;
    for (int l = 0; l < 7; ++l)
      bandwidths.push_back(random.between(1, most));
    const auto all = links(bandwidths);
    // There are few routes, so that flows often share one, and more routes than links.
    std::vector<LinkList> routes;
    for (int r = 0; r < 12; ++r) {
      LinkList route;
      for (size_t l = 0; l < bandwidths.size(); ++l)
        if (random.below(3) == 0)
          route.emplace_back(l);
      if (!route.empty())
        routes.push_back(route);
    }
    std::map<FlowId, Wanted> flows;
    std::map<FlowId, Rate> rates;
    MaxMin network(all);
    for (int change = 0; change < 60; ++change) {
      if (!flows.empty() && random.below(5) < 2) {
        const auto gone =
            std::next(flows.begin(), static_cast<std::ptrdiff_t>(random.below(flows.size())));
        network.remove(gone->first);
        rates.erase(gone->first);
        flows.erase(gone);
      } else if (!routes.empty()) {
        Wanted wanted{routes[random.below(routes.size())], std::nullopt};
        if (random.below(2) == 0)
          wanted.cap = Rate(random.between(1, most) * kRateUnits / random.between(1, 3));
        const FlowId id = network.add(wanted.route, wanted.cap);
        flows[id] = wanted;
        rates.erase(id);
      }
      if (random.below(40) == 0)
        network.touch_all();
      if (random.below(3) == 0)
        continue;
      std::set<FlowId> told;
      network.solve([&](FlowId flow, Rate /*before*/) { CHECK(told.insert(flow).second); });
      const std::map<FlowId, Rate> expected = filled(all, flows);
      for (const auto& [id, now] : expected) {
        CAPTURE(trial);
        CAPTURE(change);
        REQUIRE(network.rate_of(id) == now);
        REQUIRE(told.contains(id) == (!rates.contains(id) || rates.at(id) != now));
      }
      rates = expected;
    }
  }
}

TEST_CASE("max-min: a share below one unit is refused") {
  const auto all = links({1});
  const LinkList route = {LinkId(0)};
  MaxMin network(all);
  for (int64_t n = 0; n <= kRateUnits; ++n)
    network.add(route, std::nullopt);
  CHECK_THROWS_WITH_AS(network.solve(kNothing),
                       "a flow's share of a link is less than 1/27,720 byte per second", Overflow);
}

}  // namespace
}  // namespace orrery::test
