// Compares runs that add up the iterations of cut schedules with runs of all iterations.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "models/fabric/topology.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/algorithm/hierarchical.h"
#include "simulator/event/recording.h"
#include "simulator/lower/groupings.h"
#include "simulator/network/demand.h"
#include "tests/simulator/time/sketch.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

/// A collective whose messages are cut, on a switch that every rank has one link to, or on nodes.
struct CutCollective {
  Fabric fabric;
  Sketch sketch;
  std::vector<Instant> device_start;
  const SlicedSchedule* cut;
};

int64_t between(Random& random, int64_t least, int64_t most) {
  return least + static_cast<int64_t>(random.below(static_cast<uint64_t>(most - least + 1)));
}

std::optional<BytesPerSecond> maybe_rate(Random& random) {
  if (random.below(2) == 0)
    return std::nullopt;
  return BytesPerSecond(between(random, 1, 40) * 700'000'001);
}

/// Returns nodes of fully connected devices, each with a NIC on a rail of its own.
Fabric random_nodes(Random& random, const LinkFigures& link) {
  const auto nodes = static_cast<uint32_t>(between(random, 2, 4));
  const auto together = static_cast<uint32_t>(between(random, 2, 3));
  const LinkFigures between_nodes{BytesPerSecond(between(random, 1, 100) * 700'000'009),
                                  link.latency * 3};
  const auto outside =
      std::make_shared<const Tree>(std::vector{TreeLevel{nodes, 1, 1, between_nodes}}, together);
  return Fabric(std::make_shared<const Nodes>(
      NodesForm{nodes, std::make_shared<const FullMesh>(together, link), together, outside, true,
                true, between_nodes}));
}

/// Returns a cut schedule of some algorithm; null if the algorithm does not fit, or sends nothing.
std::unique_ptr<const Schedule> cut_schedule(Random& random, const Fabric& fabric, OpKind kind,
                                             uint32_t ranks) {
  std::vector<const Algorithm*> all = algorithms_for(kind);
  std::erase_if(all, [](const Algorithm* each) { return each->cutting == Cutting::ByItself; });
  const Algorithm& algorithm = *all[random.below(all.size())];
  Transport transport;
  transport.channels = static_cast<uint32_t>(between(random, 1, 5));
  transport.slots = static_cast<uint32_t>(between(random, 1, 4));
  std::vector<VertexId> vertices;
  for (uint32_t rank = 0; rank < ranks; ++rank)
    vertices.emplace_back(rank);
  ScheduleRequest request;
  request.layout = layout_of(fabric, vertices);
  if (algorithm.misfit({fabric, vertices, transport.channels, request.layout}))
    return nullptr;
  request.kind = kind;
  request.nodes = ranks;
  request.elements = ranks * between(random, 1, 30'000);
  request.transport = transport;
  request.source = Node(random.below(ranks));
  std::unique_ptr<const Schedule> whole = algorithm.make(request);
  const int64_t largest = whole->largest_message();
  const bool in_switches = whole->extent().nodes > ranks && has_nodes(fabric.topology());
  return largest == 0 || in_switches  // a sketch knows one switch
             ? nullptr
             : cut(std::move(whole), std::max<int64_t>(1, largest / between(random, 1, 70)));
}

std::optional<CutCollective> cut_collective(Random& random) {
  const std::vector<OpKind> kinds = {OpKind::Psum, OpKind::AllGather, OpKind::PsumScatter,
                                     OpKind::AllToAll, OpKind::Pbroadcast};
  // The links are slow or fast beside channels, so that channels share them or do not.
  const BytesPerSecond bandwidth(between(random, 1, 100) * 1'000'000'007);
  const LinkFigures link{bandwidth, Duration(between(random, 0, 900'000))};
  Fabric fabric = random.below(2) == 0
                      ? switch_fabric(static_cast<uint32_t>(between(random, 2, 6)), link)
                      : random_nodes(random, link);
  const uint32_t ranks = fabric.devices();
  std::unique_ptr<const Schedule> schedule =
      cut_schedule(random, fabric, kinds[random.below(kinds.size())], ranks);
  if (!schedule)
    return std::nullopt;
  Sketch sketch(ranks);
  CollectiveFigures figures;
  figures.rates = {maybe_rate(random), maybe_rate(random), maybe_rate(random), maybe_rate(random),
                   maybe_rate(random)};
  figures.messages.overhead = Duration(between(random, 0, 2) * 1'001);
  figures.messages.latency = Duration(between(random, 0, 2) * 99'999);
  figures.messages.channel_rate = maybe_rate(random);
  const auto* const cut = dynamic_cast<const SlicedSchedule*>(schedule.get());
  const SiteId site = sketch.site(std::move(schedule));
  sketch.figures(site, figures);
  sketch.sync(site);
  std::vector<Instant> start;
  const bool together = random.below(2) == 0;
  for (uint32_t rank = 0; rank < ranks; ++rank)
    start.emplace_back(together ? 0 : between(random, 0, 3'000'000));
  return CutCollective{std::move(fabric), std::move(sketch), std::move(start), cut};
}

TEST_CASE("only times: where iterations are added up, all ends are those of a whole run") {
  Random random(7);
  uint64_t compared = 0;
  uint64_t by_sweep = 0;
  uint64_t with_parts = 0;  // of these: some step is after one of another channel
  uint64_t by_engine = 0;
  while (compared < tries(400)) {
    const std::optional<CutCollective> made = cut_collective(random);
    if (!made)
      continue;
    const auto timed = [&](bool only_times, History* history) {
      Paths paths(made->fabric);
      TimeOptions options;
      options.device_start = made->device_start;
      options.only_times = only_times;
      options.history = history;
      return time_program(made->sketch.program, made->sketch.lowered, paths,
                          demands(made->sketch.lowered, paths), options);
    };
    History history;  // with one, nothing is added up
    const std::optional<Completion> whole = timed(false, &history);
    const std::optional<Completion> added = timed(true, nullptr);
    CAPTURE(compared);
    REQUIRE(whole.has_value() == added.has_value());
    if (!whole)  // too few slots for what the algorithm sends before it receives
      continue;
    REQUIRE(whole->makespan == added->makespan);
    for (size_t rank = 0; rank < made->device_start.size(); ++rank) {
      CAPTURE(rank);
      REQUIRE(whole->spans[0][rank].end == added->spans[0][rank].end);
    }
    if (added->by == TimedBy::Sweep) {  // messages that the sweep adds up are not counted
      const bool adds = added->messages < whole->messages;
      by_sweep += adds ? 1 : 0;
      with_parts += adds && made->cut->waits_for_channels() ? 1 : 0;
    } else {
      CHECK(added->messages == whole->messages);
      CHECK(added->digest == whole->digest);
      for (size_t rank = 0; rank < made->device_start.size(); ++rank)
        CHECK(whole->spans[0][rank].held_up_by == added->spans[0][rank].held_up_by);
      by_engine += whole->by == TimedBy::Engine && added->events < whole->events ? 1 : 0;
    }
    ++compared;
  }
  if (!is_all_tried())
    return;  // a share is too small to count
  CHECK(by_sweep > compared / 10);
  CHECK(with_parts > compared / 50);
  CHECK(by_engine > compared / 10);
}

}  // namespace
}  // namespace orrery::test
