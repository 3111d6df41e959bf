// Tests that collectives which are alike are timed once, and only those.

#include "simulator/time/apart.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "models/fabric/topology.h"
#include "simulator/algorithm/ring.h"
#include "simulator/algorithm/tree.h"
#include "simulator/time/engine.h"
#include "simulator/time/sweep.h"
#include "tests/simulator/time/sketch.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

constexpr uint32_t kNodes = 8;
constexpr uint32_t kPerNode = 4;
constexpr LinkFigures kInNode{BytesPerSecond(100'000'000'007), Duration(300'001)};
constexpr LinkFigures kOfNic{BytesPerSecond(25'000'000'003), Duration(1'500'007)};

/// Returns nodes with a NIC for each device, and a switch for each rail.
Fabric nodes_on_rails() {
  const auto a_switch = [](uint32_t below, const LinkFigures& figures, uint32_t trees) {
    return std::make_shared<const Tree>(std::vector<TreeLevel>{{below, 1, 1, figures}}, trees);
  };
  return Fabric(std::make_shared<const Nodes>(
      NodesForm{kNodes, a_switch(kPerNode, kInNode, 1), kPerNode,
                a_switch(kNodes, kOfNic, kPerNode), true, true, kInNode}));
}

std::vector<std::vector<uint32_t>> in_nodes() {
  std::vector<std::vector<uint32_t>> groups(kNodes);
  for (uint32_t device = 0; device < kNodes * kPerNode; ++device)
    groups[device / kPerNode].push_back(device);
  return groups;
}

/// Returns the devices of each rail.
std::vector<std::vector<uint32_t>> on_rails() {
  std::vector<std::vector<uint32_t>> groups(kPerNode);
  for (uint32_t device = 0; device < kNodes * kPerNode; ++device)
    groups[device % kPerNode].push_back(device);
  return groups;
}

std::unique_ptr<const Schedule> ring_in_node() {
  return std::make_unique<const RingSchedule>(RingSchedule::Form::AllGather, kPerNode,
                                              kPerNode * 1'000, Combine::None, Transport());
}

/// Returns a tree, whose ranks send and receive on both trees at once, so that messages share their
/// NICs.
std::unique_ptr<const Schedule> tree_on_rail(int64_t count) {
  return std::make_unique<const TreeSchedule>(kNodes, count, Combine::Add, 1, Transport());
}

TEST_CASE("trees over rails beside rings in nodes: timed apart, they have the engine's times") {
  Random random(7);
  const Fabric fabric = nodes_on_rails();
  Paths paths(fabric);
  uint64_t apart = 0;
  for (uint64_t program = 0; program < tries(200); ++program) {
    Sketch sketch(kNodes * kPerNode);
    CollectiveFigures figures;
    figures.launch = Duration(5'000'000);
    figures.messages.latency = Duration(random.between(0, 1'000'000));
    sketch.figures(figures);
    const auto ring = [&] { sketch.sync(sketch.site(in_nodes(), ring_in_node(), 0)); };
    const auto tree = [&] {
      return sketch.start(sketch.site(on_rails(), tree_on_rail(random.between(0, 1'000'000)), 1));
    };
    ring();
    const OpId first = tree();
    sketch.local(random.between(0, 50'000'000));
    ring();
    sketch.done(first);
    sketch.local(random.between(0, 200'000'000));
    const OpId second = tree();
    ring();
    sketch.done(second);
    // All devices begin at once, or those of a node do, or each begins at its own time.
    std::vector<Instant> start(kNodes * kPerNode);
    const uint64_t together = random.below(3);
    for (uint32_t device = 0; device < start.size(); ++device) {
      start[device] = Instant(random.between(0, 20'000'000));
      if (together == 0 || (together == 1 && device % kPerNode > 0))
        start[device] = start[device == 0 ? 0 : device - 1];
    }
    const Demands asked = demands(sketch.lowered, paths);
    REQUIRE(sweep_refusal(asked, fabric));
    SweepOptions options;
    options.device_start = start;
    options.apart = &asked;
    const auto timed = sweep(sketch.program, sketch.lowered, paths, options);
    const auto* const completion = std::get_if<Completion>(&timed);
    if (completion == nullptr)
      continue;  // the second tree began before the first had ended everywhere
    EngineOptions of_engine;
    of_engine.device_start = start;
    of_engine.share_all_links = true;
    const Completion simulated = simulate(sketch.program, sketch.lowered, fabric, of_engine);
    CAPTURE(program);
    REQUIRE(completion->spans == simulated.spans);
    REQUIRE(completion->messages == simulated.messages);
    REQUIRE(completion->digest == simulated.digest);
    REQUIRE(completion->by == TimedBy::Engine);
    ++apart;
  }
  CHECK(apart > tries(100));
}

TEST_CASE("the times of a collective serve others with routes like its own") {
  Fabric fabric = nodes_on_rails();
  std::vector<Link> links = fabric.links();
  for (Link& link : links)
    if (link.from == VertexId(3 * kPerNode) && link.to.index() >= fabric.devices())
      link.bandwidth = BytesPerSecond(24'000'000'000);  // the first device of node 3 sends slower
  const Fabric slower = fabric.with_links(std::move(links), 1);
  Paths paths(slower);
  Sketch sketch(kNodes * kPerNode);
  sketch.sync(sketch.site(on_rails(), tree_on_rail(1'000)));
  sketch.sync(sketch.site(in_nodes(), ring_in_node()));
  const Demands asked = demands(sketch.lowered, paths);
  CollectivesApart apart(sketch.lowered, paths, &asked);
  CHECK(apart.shares_links(CollectiveId(1)));
  CHECK_FALSE(apart.shares_links(CollectiveId(kPerNode)));

  std::vector<Instant> entries;
  for (uint32_t rank = 0; rank < kNodes; ++rank)
    entries.emplace_back(1'000 * (rank % 3));
  CHECK(apart.find(CollectiveId(1), entries) == nullptr);
  const auto times = apart.time_alone(CollectiveId(1), OpId(0), entries, TimeOptions());
  REQUIRE(times);
  apart.remember(CollectiveId(1), entries, *times);

  std::vector<Instant> later;
  for (const Instant entry : entries)
    later.push_back(entry + Duration(77));
  const CollectiveTimes* const known = apart.find(CollectiveId(2), later);
  REQUIRE(known != nullptr);
  const CollectiveTimes of_other = CollectivesApart::at(*known, later);
  const auto timed = apart.time_alone(CollectiveId(2), OpId(0), later, TimeOptions());
  REQUIRE(timed);
  for (uint32_t rank = 0; rank < kNodes; ++rank) {
    CHECK(of_other.exits[rank].at == times->exits[rank].at + Duration(77));
    CHECK(of_other.exits[rank].at == timed->exits[rank].at);
    CHECK(of_other.exits[rank].origin == timed->exits[rank].origin);
  }
  CHECK(of_other.digest == timed->digest);

  CHECK(apart.find(CollectiveId(0), entries) == nullptr);  // it has the slower link
  later.back() = later.back() + Duration(1);
  CHECK(apart.find(CollectiveId(2), later) == nullptr);  // a rank enters later than the others
}

TEST_CASE(
    "alone: a collective that was timed before is looked up, by all that its time depends on") {
  const Fabric fabric = nodes_on_rails();
  Paths paths(fabric);
  Sketch sketch(kNodes * kPerNode);
  sketch.sync(sketch.site(on_rails(), tree_on_rail(1'000'000)));
  const std::shared_ptr<const Schedule>& schedule = sketch.lowered.schedules[0];
  AloneTimes known;
  TimeOptions options;
  options.only_times = true;
  const std::vector<Duration> together(kNodes);
  std::vector<Duration> apart(kNodes);
  apart.back() = Duration(5'000'000);
  const auto last_end = [&](const Collective& collective, const std::vector<Duration>& entries,
                            AloneTimes* times) {
    options.alone = times;
    return std::ranges::max_element(
               time_alone(collective, schedule, entries, paths, options)->exits, {}, &Happened::at)
        ->at;
  };
  const Collective& first = sketch.lowered.collectives[0];
  Collective slower = first;
  slower.figures.messages.latency = Duration(1'000'000);
  Collective launched = first;
  launched.figures.launch = Duration(1'000'000);
  const Collective& on_next_rail = sketch.lowered.collectives[1];
  size_t found = 0;
  const auto check = [&](const Collective& collective, const std::vector<Duration>& entries,
                         bool is_new) {
    found += is_new ? 1 : 0;
    CHECK(last_end(collective, entries, &known) == last_end(collective, entries, nullptr));
    CHECK(known.times.size() == found);
  };
  check(first, together, true);
  check(first, together, false);
  check(launched, together, false);  // the launch comes before
  check(first, apart, true);
  check(slower, together, true);
  check(on_next_rail, together, true);
}

TEST_CASE("collectives take turns if none uses a link before the one before has ended there") {
  const Fabric fabric = nodes_on_rails();
  Paths paths(fabric);
  Sketch sketch(kNodes * kPerNode);
  sketch.sync(sketch.site(on_rails(), tree_on_rail(1'000)));
  sketch.sync(sketch.site(on_rails(), tree_on_rail(1'000)));
  const Demands asked = demands(sketch.lowered, paths);
  const auto take_turns = [&](uint32_t second, int64_t begins) {
    CollectivesApart apart(sketch.lowered, paths, &asked);
    const std::vector<Instant> entries(kNodes, Instant(0));
    const std::vector<Happened> exits(kNodes, Happened{Instant(1'000), Node(0)});
    const auto ignore = [](const LinkUse&) {};
    CHECK(apart.take_turns(CollectiveId(0), entries, exits, ignore));
    const std::vector<Instant> next(kNodes, Instant(begins));
    const std::vector<Happened> ends(kNodes, Happened{Instant(begins + 1'000), Node(0)});
    return apart.take_turns(CollectiveId(second), next, ends, ignore);
  };
  CHECK(take_turns(kPerNode, 1'000));
  CHECK_FALSE(take_turns(kPerNode, 999));
  CHECK(take_turns(kPerNode + 1, 0));  // on another rail
}

}  // namespace
}  // namespace orrery::test
