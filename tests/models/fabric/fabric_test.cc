// Tests fabrics and routes by hand, and random routes against a list of all routes.

#include "models/fabric/fabric.h"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "models/fabric/transport.h"
#include "tests/models/fabric/shortest_route.h"
#include "tests/support/property.h"

namespace orrery {
namespace {

using test::shortest_route;

constexpr LinkFigures kLink{BytesPerSecond(50'000'000'000), Duration(1'000'000)};

std::vector<uint32_t> ids(const std::optional<test::LinkList>& route) {
  REQUIRE(route.has_value());
  std::vector<uint32_t> result;
  for (const LinkId link : *route)
    result.push_back(link.index());
  return result;
}

Link join(uint32_t from, uint32_t to) {
  return {VertexId(from), VertexId(to), kLink.bandwidth, kLink.latency};
}

TEST_CASE("ring fabric: forward links first, then backward") {
  const Fabric ring = ring_fabric(4, kLink);
  REQUIRE(ring.links().size() == 8);
  CHECK(ring.link_text(LinkId(0)) == "device 0 -> device 1");
  CHECK(ring.link_text(LinkId(3)) == "device 3 -> device 0");
  CHECK(ring.link_text(LinkId(4)) == "device 1 -> device 0");
  CHECK(ring.link_text(LinkId(7)) == "device 0 -> device 3");
}

TEST_CASE("ring fabric: two devices have one link each way, one device has none") {
  CHECK(ring_fabric(2, kLink).links().size() == 2);
  CHECK(ring_fabric(1, kLink).links().empty());
}

TEST_CASE("fully connected fabric: a link for each ordered pair") {
  CHECK(fully_connected_fabric(5, kLink).links().size() == 5 * 4);
  CHECK(shortest_route(fully_connected_fabric(5, kLink), VertexId(1), VertexId(4))->size() == 1);
}

TEST_CASE("switch fabric: devices reach each other over the switch") {
  const Fabric fabric = switch_fabric(3, kLink);
  CHECK(fabric.links().size() == 6);
  const auto route = shortest_route(fabric, VertexId(2), VertexId(0));
  REQUIRE(route->size() == 2);
  CHECK(fabric.link_text((*route)[0]) == "device 2 -> switch \"switch\"");
  CHECK(fabric.link_text((*route)[1]) == "switch \"switch\" -> device 0");
}

TEST_CASE("a fabric with other links keeps its switches, and which of them reduce") {
  const Fabric plain = switch_fabric(3, kLink);
  CHECK(plain.reducing_switches().empty());
  const Fabric reducing = plain.with_reduction({VertexId(3)});
  std::vector<Link> links = reducing.links();
  links[1].latency = Duration(5);
  const Fabric slower = reducing.with_links(links, 4);
  REQUIRE(slower.reducing_switches().size() == 1);
  CHECK(slower.reducing_switches()[0] == VertexId(3));
  CHECK(slower.vertex_text(VertexId(3)) == "switch \"switch\"");
  CHECK(slower.link(LinkId(1)).latency == Duration(5));
  CHECK(slower.links() == links);
  CHECK(slower.rate_parts() == 4);
}

TEST_CASE("route in a list: the nearer way round a ring; of equal ones, that of the destination") {
  const Fabric ring = test::listed(ring_fabric(8, kLink));
  CHECK(ids(shortest_route(ring, VertexId(6), VertexId(1))) == std::vector<uint32_t>{6, 7, 0});
  // Backward link 8 + i leads from i + 1 to i.
  CHECK(ids(shortest_route(ring, VertexId(1), VertexId(6))) == std::vector<uint32_t>{8, 15, 14});
  // Link 3 enters device 4 before link 12 does. So destinations with an even number get the first.
  CHECK(ids(shortest_route(ring, VertexId(0), VertexId(4))) == std::vector<uint32_t>{0, 1, 2, 3});
  CHECK(ids(shortest_route(ring, VertexId(1), VertexId(5))) ==
        std::vector<uint32_t>{8, 15, 14, 13});
}

TEST_CASE("route: goes around a cut link, which keeps its id") {
  const Fabric ring = ring_fabric(4, kLink);
  std::vector<Link> links = ring.links();
  links[0].cut = true;
  const Fabric cut(4, {}, links);
  // The route goes the other way round: link 7 leads from 0 to 3, 6 from 3 to 2, and 5 from 2 to 1.
  CHECK(ids(shortest_route(cut, VertexId(0), VertexId(1))) == std::vector<uint32_t>{7, 6, 5});
  CHECK(ids(shortest_route(cut, VertexId(1), VertexId(2))) == std::vector<uint32_t>{1});
  CHECK(cut.link_text(LinkId(0)) == "device 0 -> device 1");
  links[7].cut = true;
  CHECK_FALSE(shortest_route(Fabric(4, {}, links), VertexId(0), VertexId(1)).has_value());
  CHECK(shortest_route(Fabric(4, {}, links), VertexId(1), VertexId(0)).has_value());
}

TEST_CASE("fabric: the links between two vertices, and the neighbours of a vertex") {
  const Fabric fabric(4, {}, {join(0, 2), join(0, 1), join(2, 0), join(0, 2)});
  CHECK(fabric.links_between(VertexId(0), VertexId(2)) == std::vector{LinkId(0), LinkId(3)});
  CHECK(fabric.links_between(VertexId(0), VertexId(3)).empty());
  CHECK(fabric.neighbours(VertexId(0)) == std::vector{VertexId(1), VertexId(2)});
  CHECK(fabric.neighbours(VertexId(3)).empty());
}

TEST_CASE("route: empty from a vertex to itself") {
  CHECK(ids(shortest_route(ring_fabric(3, kLink), VertexId(1), VertexId(1))).empty());
}

TEST_CASE("route: none where no links connect") {
  const Fabric fabric(3, {}, {join(0, 1)});
  CHECK_FALSE(shortest_route(fabric, VertexId(1), VertexId(0)).has_value());
  CHECK_FALSE(shortest_route(fabric, VertexId(0), VertexId(2)).has_value());
}

TEST_CASE("route: of parallel links that of the destination's number") {
  const Fabric fabric(3, {}, {join(1, 0), join(0, 1), join(0, 1), join(0, 2), join(0, 2)});
  CHECK(ids(shortest_route(fabric, VertexId(0), VertexId(1))) == std::vector<uint32_t>{2});
  CHECK(ids(shortest_route(fabric, VertexId(0), VertexId(2))) == std::vector<uint32_t>{3});
}

TEST_CASE("route: of equally short routes that of the destination's number, by their last links") {
  // Links 1 and 2 lead 0 -> 1 -> 3; links 3 and 0 lead 0 -> 2 -> 3. Link 0 enters device 3 first.
  const Fabric fabric(4, {}, {join(2, 3), join(0, 1), join(1, 3), join(0, 2)});
  CHECK(ids(shortest_route(fabric, VertexId(0), VertexId(3))) == std::vector<uint32_t>{1, 2});
  CHECK(ids(shortest_route(fabric, VertexId(0), VertexId(3), 4)) == std::vector<uint32_t>{3, 0});
}

TEST_CASE("route: a copy of a fabric has the same routes") {
  const Fabric ring = ring_fabric(5, kLink);
  const Fabric copy = ring;
  CHECK(ids(test::expected_route(copy, VertexId(0), VertexId(2))) == std::vector<uint32_t>{0, 1});
}

/// Finds all routes without a repeated vertex.
void extend(const Fabric& fabric, VertexId at, VertexId to, std::vector<uint32_t>& way,
            std::vector<bool>& visited, std::vector<std::vector<uint32_t>>& ways) {
  if (at == to) {
    ways.push_back(way);
    return;
  }
  for (uint32_t i = 0; i < fabric.count_links(); ++i) {
    const Link link = fabric.link(LinkId(i));
    if (link.from != at || visited[link.to.index()])
      continue;
    visited[link.to.index()] = true;
    way.push_back(i);
    extend(fabric, link.to, to, way, visited, ways);
    way.pop_back();
    visited[link.to.index()] = false;
  }
}

std::vector<VertexId> visited_by(const Fabric& fabric, const std::vector<uint32_t>& way) {
  std::vector<VertexId> vertices;
  for (const uint32_t link : way)
    vertices.push_back(fabric.link(LinkId(link)).to);
  return vertices;
}

TEST_CASE("route: numbers decide between all the shortest routes, and between no others") {
  test::holds_for_all("routes are the shortest ways", [](uint64_t seed) {
    Random random(seed);
    const auto vertices = static_cast<uint32_t>(random.between(2, 6));
    const auto devices = static_cast<uint32_t>(random.between(1, vertices));
    std::vector<std::string> switches(vertices - devices, "s");
    std::vector<Link> links;
    for (int64_t i = random.between(0, 12); i > 0; --i) {
      const auto from = static_cast<uint32_t>(random.below(vertices));
      const auto step = 1 + static_cast<uint32_t>(random.below(vertices - 1));
      links.push_back(join(from, (from + step) % vertices));
    }
    const Fabric fabric(devices, switches, links);
    for (uint32_t from = 0; from < vertices; ++from) {
      for (uint32_t to = 0; to < vertices; ++to) {
        std::vector<std::vector<uint32_t>> ways;
        std::vector<uint32_t> way;
        std::vector<bool> visited(vertices, false);
        visited[from] = true;
        extend(fabric, VertexId(from), VertexId(to), way, visited, ways);
        const auto least =
            std::min_element(ways.begin(), ways.end(),
                             [](const auto& a, const auto& b) { return a.size() < b.size(); });
        const auto route = shortest_route(fabric, VertexId(from), VertexId(to));
        RC_ASSERT(route.has_value() == (least != ways.end()));
        if (!route)
          continue;
        const size_t length = least->size();
        std::set<std::vector<VertexId>> expected;
        for (const std::vector<uint32_t>& each : ways)
          if (each.size() == length)
            expected.insert(visited_by(fabric, each));
        std::set<std::vector<VertexId>> found;
        for (uint64_t number = 0; number < 1'000; ++number) {
          const auto taken = ids(shortest_route(fabric, VertexId(from), VertexId(to), number));
          RC_ASSERT(std::find(ways.begin(), ways.end(), taken) != ways.end());
          RC_ASSERT(taken.size() == length);
          found.insert(visited_by(fabric, taken));
        }
        RC_ASSERT(found == expected);
      }
    }
  });
}

TEST_CASE("catalog: entries stand in name order") {
  CHECK(catalog().size() == 12);
  CHECK(std::is_sorted(catalog().begin(), catalog().end(),
                       [](const CatalogFile& a, const CatalogFile& b) { return a.name < b.name; }));
}

TEST_CASE("protocols: the spellings of files and of scenarios are two") {
  for (const Protocol protocol : {Protocol::Simple, Protocol::LL, Protocol::LL128}) {
    CHECK(protocol_named(name(protocol)) == protocol);
    CHECK(protocol_of_key(key_of(protocol)) == protocol);
    CHECK_FALSE(protocol_named(key_of(protocol)).has_value());
    CHECK_FALSE(protocol_of_key(name(protocol)).has_value());
  }
}

}  // namespace
}  // namespace orrery
