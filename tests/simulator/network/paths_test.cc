// Compares the routes of Paths with shortest_route.h, and tests how much Paths holds.

#include "simulator/network/paths.h"

#include <string>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "tests/models/fabric/shortest_route.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

constexpr LinkFigures kLink{BytesPerSecond(1'000'000'000), Duration(1'000'000)};

Fabric through_a_switch() {
  return Fabric(2, {"s"},
                {{VertexId(0), VertexId(2), BytesPerSecond(7), Duration(3)},
                 {VertexId(2), VertexId(1), BytesPerSecond(5), Duration(4)}});
}

LinkList links_in(const Path& path) {
  return {path.links.begin(), path.links.end()};
}

TEST_CASE("paths: the least bandwidth and the sum of the latencies") {
  const Fabric fabric = through_a_switch();
  Paths paths(fabric);
  const Path& path = paths.between(VertexId(0), VertexId(1), 0);
  CHECK(links_in(path) == LinkList{LinkId(0), LinkId(1)});
  CHECK(path.bottleneck == BytesPerSecond(5));
  CHECK(path.latency == Duration(7));
}

TEST_CASE("paths: a declared cap counts where it is less") {
  const Fabric fabric = through_a_switch();
  Paths paths(fabric);
  const Path& path = paths.between(VertexId(0), VertexId(1), 0);
  CHECK(path.peak(std::nullopt) == BytesPerSecond(5));
  CHECK(path.peak(BytesPerSecond(4)) == BytesPerSecond(4));
  CHECK(path.peak(BytesPerSecond(6)) == BytesPerSecond(5));
}

TEST_CASE("paths: nothing limits the way from a vertex to itself") {
  const Fabric fabric = through_a_switch();
  Paths paths(fabric);
  const Path& path = paths.between(VertexId(1), VertexId(1), 0);
  CHECK(!path.bottleneck);
  CHECK(path.latency == Duration(0));
}

/// A `Draft` is a list of links for a new fabric, with random figures.
struct Draft {
  uint32_t devices;
  uint32_t switches = 0;
  std::vector<Link> links;

  void link(Random& random, uint32_t from, uint32_t to) {
    if (from != to)
      links.push_back({VertexId(from), VertexId(to), BytesPerSecond(random.between(1, 100)),
                       Duration(random.between(0, 100))});
  }
  void both_ways(Random& random, uint32_t a, uint32_t b) {
    link(random, a, b);
    link(random, b, a);
  }
};

/// Returns a ring one way or both ways, a star, a two-level tree with one or two spines, or links
/// anywhere. It adds some parallel links and some random links, shuffles all, and cuts some.
Fabric random_fabric(Random& random) {
  Draft draft{static_cast<uint32_t>(random.below(12)) + 2, 0, {}};
  const uint32_t n = draft.devices;
  const uint64_t form = random.below(5);
  if (form == 0) {
    for (uint32_t d = 0; d < n; ++d)
      draft.link(random, d, (d + 1) % n);
  } else if (form == 1) {
    for (uint32_t d = 0; d < n; ++d)
      draft.both_ways(random, d, (d + 1) % n);
  } else if (form == 2) {
    draft.switches = 1;
    for (uint32_t d = 0; d < n; ++d)
      draft.both_ways(random, d, n);
  } else if (form == 3) {
    const uint32_t leaves = (n + 2) / 3;
    const auto spines = static_cast<uint32_t>(random.below(2)) + 1;
    draft.switches = leaves + spines;
    for (uint32_t d = 0; d < n; ++d)
      draft.both_ways(random, d, n + d / 3);
    for (uint32_t leaf = 0; leaf < leaves; ++leaf)
      for (uint32_t spine = 0; spine < spines; ++spine)
        draft.both_ways(random, n + leaf, n + leaves + spine);
  }
  const uint32_t vertices = n + draft.switches;
  const uint64_t more = form == 4 ? random.below(4 * vertices) : random.below(3);
  for (uint64_t l = 0; l < more; ++l)
    draft.link(random, static_cast<uint32_t>(random.below(vertices)),
               static_cast<uint32_t>(random.below(vertices)));
  std::vector<Link>& links = draft.links;
  if (!links.empty() && random.below(3) == 0)
    links.push_back(links[random.below(links.size())]);
  for (size_t l = links.size(); l > 1 && random.below(4) != 0; --l)
    std::swap(links[l - 1], links[random.below(l)]);
  if (random.below(2) == 0)
    for (Link& link : links)
      link.cut = random.below(6) == 0;
  return Fabric(n, std::vector<std::string>(draft.switches, "s"), std::move(links),
                {random.below(2) == 0, random.next()});
}

TEST_CASE("paths: the shortest routes, on 3,000 random fabrics, in any order of asking") {
  Random random(11);
  uint64_t with_search = 0;
  for (uint64_t trial = 0; trial < tries(3'000); ++trial) {
    const Fabric fabric = random_fabric(random);
    const auto vertices = fabric.vertices();
    // Sometimes the limit is so low that searches are dropped and made again.
    Paths paths(fabric, random.below(2) == 0 ? Paths::kMostHeld : 20);
    for (int ask = 0; ask < 60; ++ask) {
      const VertexId from(random.below(vertices));
      const VertexId to(random.below(vertices));
      const auto channel = static_cast<uint32_t>(random.below(3));
      // Parallel links between two devices serve the channels in turns.
      std::optional<uint64_t> number = fabric.way_number(from, to, channel);
      if (!number && fabric.is_device(from) && fabric.is_device(to) &&
          fabric.links_between(from, to).size() > 1)
        number = uint64_t{to.index()} + channel;
      const std::optional<LinkList> expected = shortest_route(fabric, from, to, number);
      const Path* const found = paths.find(from, to, channel);
      CAPTURE(trial);
      CAPTURE(from.index());
      CAPTURE(to.index());
      REQUIRE((found != nullptr) == expected.has_value());
      if (found == nullptr)
        continue;
      REQUIRE(links_in(*found) == *expected);
      std::optional<BytesPerSecond> least;
      Duration latency;
      for (const LinkId id : *expected) {
        const Link link = fabric.link(id);
        least = least ? std::min(*least, link.bandwidth) : link.bandwidth;
        latency += link.latency;
      }
      REQUIRE(found->bottleneck == least);
      REQUIRE(found->latency == latency);
    }
    with_search += paths.held() > 0 ? 1 : 0;
  }
  CHECK(with_search > tries(1'000));
}

TEST_CASE("paths: all pairs under one switch, and neighbours on a ring, need no search") {
  const Fabric star = listed(switch_fabric(300, kLink));
  Paths under_a_switch(star);
  for (uint32_t from = 0; from < 300; ++from)
    for (uint32_t to = 0; to < 300; ++to)
      under_a_switch.between(VertexId(from), VertexId(to), 0);
  CHECK(under_a_switch.held() == 0);

  const Fabric ring = listed(ring_fabric(300, kLink));
  Paths around(ring);
  for (uint32_t from = 0; from < 300; ++from)
    around.between(VertexId(from), VertexId((from + 1) % 300), 0);
  CHECK(around.held() == 0);
}

TEST_CASE("paths: of two ways around a ring, that of the source's parity by rule") {
  // Links 0 to 3 lead forwards, beginning with 0 -> 1. Links 4 to 7 lead back, beginning with 1 ->
  // 0.
  const Fabric ring = ring_fabric(4, kLink);
  Paths paths(ring);
  CHECK(links_in(paths.between(VertexId(0), VertexId(2), 0)) == LinkList{LinkId(0), LinkId(1)});
  CHECK(links_in(paths.between(VertexId(1), VertexId(3), 0)) == LinkList{LinkId(4), LinkId(7)});
}

TEST_CASE("paths: where a link of the rule's route is cut, another of the equal ways is taken") {
  // Devices 0 and 1 are under leaf 4, and 2 and 3 under leaf 5; the spines are 6 and 7.
  const Fabric whole(std::make_shared<const Tree>(
      std::vector{TreeLevel{2, 1, 1, kLink}, TreeLevel{2, 2, 1, kLink}}));
  const auto spine = [](const Fabric& fabric, uint32_t from, uint32_t to) {
    Paths paths(fabric);
    const Path* const path = paths.find(VertexId(from), VertexId(to), 0);
    return path != nullptr ? std::optional(fabric.link(path->links.at(1)).to.index())
                           : std::nullopt;
  };
  const auto cut = [](const Fabric& fabric, uint32_t from, uint32_t to) {
    std::vector<Link> links = fabric.links();
    for (const LinkId link : fabric.links_between(VertexId(from), VertexId(to)))
      links[link.index()].cut = true;
    return fabric.with_links(std::move(links), 1);
  };
  CHECK(spine(whole, 0, 2) == 6);
  CHECK(spine(whole, 0, 3) == 7);
  const Fabric one = cut(whole, 4, 6);
  CHECK(spine(one, 0, 2) == 7);
  CHECK(spine(one, 0, 3) == 7);
  CHECK(spine(one, 2, 0) == 6);  // the link that leads back is whole
  const Fabric both = cut(one, 4, 7);
  CHECK_FALSE(spine(both, 0, 2).has_value());
  CHECK(spine(both, 2, 0) == 6);
}

TEST_CASE("paths: on a torus, a route by search leads around a cut link, and others stay") {
  const Fabric ring = ring_fabric(6, kLink);
  std::vector<Link> links = ring.links();
  links[0].cut = true;  // 0 -> 1
  const Fabric cut = ring.with_links(std::move(links), 1);
  Paths paths(cut);
  CHECK(paths.between(VertexId(0), VertexId(1), 0).links.size() == 5);
  CHECK(paths.between(VertexId(5), VertexId(2), 0).links.size() == 3);
  CHECK(links_in(paths.between(VertexId(1), VertexId(2), 0)) == LinkList{LinkId(1)});
}

TEST_CASE("paths: a search holds what it has met: twice the distance on a ring, of any size") {
  for (const uint64_t devices : {uint64_t{100}, uint64_t{10'000}, tries(1'000'000)}) {
    const Fabric ring = listed(ring_fabric(static_cast<uint32_t>(devices), kLink));
    Paths paths(ring);
    paths.between(VertexId(5), VertexId(25), 0);
    // The search meets 20 vertices in each direction, two of them at its front. It holds two
    // numbers for each. The table is at most half full, and doubles as it grows.
    CHECK(paths.held() >= 2 * 40);
    CHECK(paths.held() <= 2 * 4 * 40 + 128);
  }
}

TEST_CASE("paths: two levels of switches need a search for each leaf, over the switches alone") {
  // There are 32 leaves of 8 devices under one root. A search meets the root and the other leaves.
  Random random(1);
  Draft draft{256, 33, {}};
  for (uint32_t d = 0; d < 256; ++d)
    draft.both_ways(random, d, 256 + d / 8);
  for (uint32_t leaf = 0; leaf < 32; ++leaf)
    draft.both_ways(random, 256 + leaf, 288);
  draft.both_ways(random, 0, 288);  // else a leaf has only one way in, devices apart
  const Fabric tree(256, std::vector<std::string>(33, "s"), draft.links);
  Paths paths(tree);
  for (uint32_t from = 0; from < 256; ++from)
    for (uint32_t to = 0; to < 256; ++to)
      paths.between(VertexId(from), VertexId(to), 0);
  CHECK(paths.held() > 0);
  CHECK(paths.held() <= 34 * (2 * 128 + 2 * 34));
}

TEST_CASE("paths: searches that hold too much are dropped") {
  const Fabric ring = listed(ring_fabric(64, kLink));
  Paths paths(ring, 1'000);
  for (uint32_t from = 0; from < 64; ++from) {
    paths.between(VertexId(from), VertexId((from + 30) % 64), 0);
    CHECK(paths.held() <= 1'000);
  }
}

}  // namespace
}  // namespace orrery::test
