// Tests demands on links by hand, and random programs against a count of each message.

#include "simulator/network/demand.h"

#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "simulator/algorithm/in_switch.h"
#include "simulator/algorithm/ring.h"
#include "tests/models/fabric/shortest_route.h"
#include "tests/simulator/time/random_sketch.h"
#include "tests/simulator/time/sketch.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

constexpr LinkFigures kGigabyteLink = {BytesPerSecond(1'000'000'000), Duration(1'000'000)};

Demands asked(const Lowered& lowered, const Fabric& fabric) {
  Paths paths(fabric);
  return demands(lowered, paths);
}

TEST_CASE("demand: a ring all-reduce carries 2(n-1)/n of the buffer over each link that it uses") {
  Sketch sketch(4);
  sketch.sync(sketch.site(std::make_unique<RingSchedule>(RingSchedule::Form::AllReduce, 4, 4'000,
                                                         Combine::Add, Transport{}),
                          0, Dtype::F32));
  const Fabric fabric = ring_fabric(4, kGigabyteLink);
  const Demands found = asked(sketch.lowered, fabric);
  CHECK(found.messages == std::vector<uint64_t>{24});  // 4 ranks, 6 steps
  int used = 0;
  for (size_t l = 0; l < found.links.size(); ++l) {
    const Link& link = fabric.link(LinkId(l));
    const bool onward = link.to.index() == (link.from.index() + 1) % 4;
    // Each link carries 6 messages of 1,000 elements of 4 bytes.
    CHECK(found.links[l].bytes == (onward ? 24'000 : 0));
    used += onward ? 1 : 0;
  }
  CHECK(used == 4);
}

TEST_CASE("demand: a message counts on every link of its route") {
  Sketch sketch(3);
  sketch.sync(sketch.site(flows(3, {{0, 2, 100}, {1, 2, 30}})));
  const Fabric line(3, {},
                    {{VertexId(0), VertexId(1), kGigabyteLink.bandwidth, kGigabyteLink.latency},
                     {VertexId(1), VertexId(2), kGigabyteLink.bandwidth, kGigabyteLink.latency}});
  const Demands found = asked(sketch.lowered, line);
  CHECK(found.links[0].bytes == 100);
  CHECK(found.links[1].bytes == 130);
  CHECK(found.messages == std::vector<uint64_t>{2});
}

TEST_CASE(
    "demand: a collective that comes three times asks for three times the bytes, once a time") {
  const auto sends = [] { return flows(3, {{0, 2, 100}, {1, 2, 30}}); };
  Sketch once(3);
  once.sync(once.site(sends()));
  Sketch thrice(3);
  const SiteId site = thrice.site(sends());
  thrice.sync(site);
  for (int i = 0; i < 2; ++i) {  // the same schedule and places
    Collective again = thrice.lowered.collectives.front();
    thrice.lowered.collectives.push_back(again);
  }
  const Fabric fabric = ring_fabric(3, kGigabyteLink);
  const Demands one = asked(once.lowered, fabric);
  const Demands three = asked(thrice.lowered, fabric);
  CHECK(three.messages == std::vector<uint64_t>{2, 2, 2});
  for (size_t l = 0; l < one.links.size(); ++l) {
    CHECK(three.links[l].bytes == 3 * one.links[l].bytes);
    CHECK(three.links[l].peak == one.links[l].peak);  // one after the other on its stream
    CHECK(three.links[l].chains == one.links[l].chains);
  }
}

TEST_CASE("demand: a switch may send for each run of a collective at once") {
  const auto cast = [] {
    return std::make_unique<InSwitchSchedule>(InSwitchSchedule::Form::Broadcast, 3, 30,
                                              Combine::None, Node(0), Transport{});
  };
  Sketch once(3);
  once.sync(once.site(cast()));
  Sketch thrice(3);
  thrice.sync(thrice.site(cast()));
  for (int i = 0; i < 2; ++i) {  // the same schedule and places
    Collective again = thrice.lowered.collectives.front();
    thrice.lowered.collectives.push_back(again);
  }
  const Fabric fabric = switch_fabric(3, kGigabyteLink);
  const Demands one = asked(once.lowered, fabric);
  const Demands three = asked(thrice.lowered, fabric);
  for (size_t l = 0; l < one.links.size(); ++l) {
    const int from_switch = fabric.link(LinkId(l)).from == VertexId(3) ? 3 : 1;
    CHECK(three.links[l].peak == from_switch * one.links[l].peak);
    CHECK(three.links[l].chains == static_cast<uint64_t>(from_switch) * one.links[l].chains);
  }
}

TEST_CASE("demand: message by message gives the same, on 500 random programs") {
  Random random(21);
  for (uint64_t trial = 0; trial < tries(500); ++trial) {
    const RandomSketch program = random_sketch(random, {random.below(2) == 0});
    const Lowered& lowered = program.sketch.lowered;
    // Under a switch, each node's channels in each collective are chains of their own.
    using Sender = std::tuple<VertexId, StreamId, std::optional<size_t>, Node>;
    std::map<std::tuple<LinkId, Sender, Channel>, int64_t> peaks;
    std::vector<Int128> bytes(program.fabric.count_links());
    std::vector<uint64_t> messages(lowered.collectives.size());
    for (size_t i = 0; i < lowered.collectives.size(); ++i) {
      const Collective& collective = lowered.collectives[i];
      const Extent& extent = collective.schedule->extent();
      for (uint32_t n = 0; n < extent.nodes; ++n) {
        for (uint32_t c = 0; c < extent.channels; ++c) {
          for (uint32_t s = 0; s < collective.schedule->steps(Node(n), Channel(c)); ++s) {
            const Step step = collective.schedule->step({Node(n), Channel(c), s});
            if (!step.to)
              continue;
            ++messages[i];
            const VertexId from = collective.vertices[n];
            const LinkList route =
                *expected_route(program.fabric, from, collective.vertices[step.to->index()]);
            int64_t peak =
                collective.figures.messages.channel_rate.value_or(BytesPerSecond(INT64_MAX))
                    .count();
            for (const LinkId link : route)
              peak = std::min(peak, program.fabric.link(link).bandwidth.count());
            for (const LinkId link : route) {
              const bool rank = extent.is_rank(Node(n));
              const Sender sender{from, collective.stream, rank ? std::nullopt : std::optional(i),
                                  rank ? Node() : Node(n)};
              int64_t& most = peaks[{link, sender, Channel(c)}];
              most = std::max(most, peak);
              bytes[link.index()] += itemsize(collective.work).count() * step.count();
            }
          }
        }
      }
    }
    std::vector<Int128> peak(bytes.size());
    std::vector<size_t> chains(bytes.size());
    for (const auto& [chain, most] : peaks) {
      peak[std::get<LinkId>(chain).index()] += most;
      ++chains[std::get<LinkId>(chain).index()];
    }
    const Demands found = asked(lowered, program.fabric);
    CAPTURE(trial);
    REQUIRE(found.messages == messages);
    for (size_t l = 0; l < bytes.size(); ++l) {
      REQUIRE(found.links[l].peak == peak[l]);
      REQUIRE(found.links[l].chains == chains[l]);
      REQUIRE(found.links[l].bytes == bytes[l]);
    }
  }
}

}  // namespace
}  // namespace orrery::test
