// Compares schedules along the axes of a group with their closed forms and bounds.

#include "simulator/algorithm/staged.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "models/fabric/fabric.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/algorithm/hierarchical.h"
#include "simulator/time/engine.h"
#include "tests/simulator/time/sketch.h"

namespace orrery::test {
namespace {

constexpr LinkFigures kInside{BytesPerSecond(450'000'000'000), Duration(200'000)};
constexpr LinkFigures kBetween{BytesPerSecond(40'000'000'000), Duration(1'000'000)};

/// Nodes of fully connected devices, each with a NIC on a rail of its own.
Fabric rails(uint32_t nodes, uint32_t together) {
  const auto inside = std::make_shared<const FullMesh>(together, kInside);
  const auto outside =
      std::make_shared<const Tree>(std::vector{TreeLevel{nodes, 1, 1, kBetween}}, together);
  return Fabric(std::make_shared<const Nodes>(
      NodesForm{nodes, inside, together, outside, true, true, kBetween}));
}

Duration takes(StagedForm form, const Fabric& fabric, std::optional<int64_t> stretch = {}) {
  std::unique_ptr<const Schedule> schedule =
      std::make_unique<const StagedSchedule>(std::move(form));
  if (stretch)
    schedule = cut(std::move(schedule), *stretch);
  Sketch sketch(schedule->extent().ranks());
  sketch.sync(sketch.site(std::move(schedule)));
  return simulate(sketch.program, sketch.lowered, fabric).makespan - Instant();
}

StagedForm rings(StageForm form, uint32_t nodes, uint32_t together, int64_t count) {
  StagedForm staged;
  staged.form = form;
  staged.sizes = {nodes, together};
  staged.algorithms = {kRingPart.line, kRingPart.line};
  staged.lanes = {{{1, 0}}};
  staged.count = count;
  const bool reduces = form == StageForm::AllReduce || form == StageForm::ReduceScatter;
  staged.combine = reduces ? Combine::Add : Combine::None;
  return staged;
}

TEST_CASE("staged: rings inside nodes hide behind rings between, but for the first and the last") {
  // Let a unit take t inside and T between nodes. While a rank sends a unit between nodes, its node
  // has the time for a round of the ring inside, (L - 1) t. So only the first round of the scatter
  // and the last one of the gather add to the ring of M nodes. A unit that a rank passes on between
  // nodes is gathered once it has left the rank, a latency before the last unit arrives. So the
  // round before the last one may still be going on then. In a gather over two nodes that round is
  // for the rank's own unit, which is there from the start.
  for (const uint32_t nodes : {2U, 3U, 4U, 7U, 16U})
    for (const uint32_t together : {2U, 4U, 5U})
      for (const int64_t unit : {1'000, 1'234'567}) {
        CAPTURE(nodes);
        CAPTURE(together);
        CAPTURE(unit);
        const Fabric fabric = rails(nodes, together);
        const int64_t count = unit * nodes * together;
        const Duration round = (transfer_time(Bytes(unit), kInside.bandwidth) + kInside.latency) *
                               (int64_t{together} - 1);
        const Duration between =
            (transfer_time(Bytes(unit), kBetween.bandwidth) + kBetween.latency * 2) *
            (int64_t{nodes} - 1);
        REQUIRE(round * (int64_t{nodes} - 1) <= between);
        const Duration before_last = std::max(Duration(), round - kBetween.latency * 2);
        CHECK(takes(rings(StageForm::AllReduce, nodes, together, count), fabric) ==
              round * 2 + between * 2 + before_last);
        CHECK(takes(rings(StageForm::ReduceScatter, nodes, together, count), fabric) ==
              round + between);
        CHECK(takes(rings(StageForm::AllGather, nodes, together, count), fabric) ==
              round + between + (nodes == 2 ? Duration() : before_last));
      }
}

TEST_CASE("staged: of two pieces of a message, one is sent while the other is on its way") {
  // A piece takes t and the latency l. A rank sends the two pieces of a message one after another,
  // and the next message when the first piece of this one has arrived, if its link is free: 2 t or
  // t + l later.
  for (const uint32_t n : {2U, 3U, 8U})
    for (const int64_t piece : {1'000, 89'999, 90'000, 90'001, 500'000}) {
      CAPTURE(n);
      CAPTURE(piece);
      const Fabric fabric = ring_fabric(n, kInside);
      const Duration sent = transfer_time(Bytes(piece), kInside.bandwidth);
      const Duration turn = std::max(sent * 2, sent + kInside.latency);
      for (const StageForm kind :
           {StageForm::AllReduce, StageForm::ReduceScatter, StageForm::AllGather}) {
        StagedForm form = rings(kind, 1, n, 2 * piece * n);
        form.sizes = {n};
        form.algorithms = {kRingPart.line};
        form.lanes = {{{0}}};
        form.pieces = 2;
        form.transport.slots = 4;
        const int64_t messages = (kind == StageForm::AllReduce ? 2 : 1) * (int64_t{n} - 1);
        CHECK(takes(std::move(form), fabric) == turn * (messages - 1) + sent * 2 + kInside.latency);
      }
    }
}

TEST_CASE("staged: each link carries what the stages send over it") {
  // Inside, a rank sends (L - 1) / L of the data to scatter it, and as much to gather it. Between
  // nodes it sends 2 (M - 1) / M of its part, 1 / L of the data.
  const StagedSchedule schedule(rings(StageForm::AllReduce, 3, 4, 12'000));
  for (uint32_t rank = 0; rank < 12; ++rank) {
    int64_t inside = 0;
    int64_t between = 0;
    for (uint32_t c = 0; c < schedule.extent().channels; ++c)
      schedule.for_each_receiver(Node(rank), Channel(c), [&](const Sent& sent) {
        (sent.to.index() / 4 == rank / 4 ? inside : between) += sent.elements;
      });
    CHECK(inside == 2 * 12'000 * 3 / 4);
    CHECK(between == 2 * 3'000 * 2 / 3);
  }
}

/// Returns the schedule of rings along the axes of a torus.
std::unique_ptr<const Schedule> on_torus(OpKind kind, const std::vector<uint32_t>& sizes,
                                         int64_t count, int64_t largest = 0) {
  ScheduleRequest request;
  request.kind = kind;
  request.nodes = 1;
  for (const uint32_t size : sizes)
    request.nodes *= size;
  request.layout.axes = sizes;
  request.elements = kind == OpKind::AllGather ? count / request.nodes : count;
  request.transport.largest = largest;
  return make_torus(request, true);
}

constexpr LinkFigures kTorusLink{BytesPerSecond(50'000'000'000), Duration(500'000)};

Duration takes_on_torus(OpKind kind, const std::vector<uint32_t>& sizes, int64_t count) {
  std::vector<TorusDimension> dimensions;
  for (const uint32_t size : sizes)
    dimensions.push_back({size, true, kTorusLink});
  const Fabric fabric(std::make_shared<const Torus>(dimensions));
  std::unique_ptr<const Schedule> schedule = on_torus(kind, sizes, count);
  Sketch sketch(schedule->extent().ranks());
  sketch.sync(sketch.site(std::move(schedule)));
  return simulate(sketch.program, sketch.lowered, fabric).makespan - Instant();
}

const std::vector<std::vector<uint32_t>> kCubes = {{2, 2}, {3, 3},    {4, 4},
                                                   {8, 8}, {4, 4, 4}, {8, 8, 8}};

TEST_CASE("staged: on a torus with equal axes, rings with whole parts follow one another") {
  // Each of the 2 d lanes has its share of the data. The ring along the k-th axis passes parts of
  // 1 / n^k of the share, n - 1 times. No two lanes use one link at once, unless there are two
  // ranks along an axis: then both directions share it.
  for (const std::vector<uint32_t>& sizes : kCubes)
    for (const int64_t part : {3, 40'000}) {
      const uint32_t n = sizes.front();
      const auto lanes = static_cast<int64_t>(2 * sizes.size());
      int64_t message = part * lanes;
      for (size_t axis = 0; axis < sizes.size(); ++axis)
        message *= n;
      const int64_t count = message;
      message /= lanes;
      Duration once;
      for (size_t axis = 0; axis < sizes.size(); ++axis) {
        message /= n;
        const Bytes over_link(n == 2 ? 2 * message : message);
        once += (transfer_time(over_link, kTorusLink.bandwidth) + kTorusLink.latency) * (n - 1);
      }
      CAPTURE(sizes.size());
      CAPTURE(n);
      CAPTURE(part);
      CHECK(takes_on_torus(OpKind::Psum, sizes, count) == once * 2);
    }
}

TEST_CASE("staged: on a torus all links of each device are busy nearly all the time") {
  // A device sends (N - 1) / N of the data over its 2 d links in a gather or a scatter, and twice
  // as much in a reduction to all.
  for (const std::vector<uint32_t>& sizes : {std::vector<uint32_t>{4, 4}, {8, 8}, {4, 4, 4}}) {
    int64_t ranks = 1;
    for (const uint32_t size : sizes)
      ranks *= size;
    const int64_t count = ranks * 16'000'000;
    const auto links = static_cast<int64_t>(2 * sizes.size());
    for (const OpKind kind : {OpKind::Psum, OpKind::PsumScatter, OpKind::AllGather}) {
      const int64_t turns = kind == OpKind::Psum ? 2 : 1;
      CAPTURE(ranks);
      CAPTURE(turns);
      const Duration time = takes_on_torus(kind, sizes, count);
      const Duration least =
          transfer_time(Bytes(turns * (ranks - 1) * (count / ranks) / links), kTorusLink.bandwidth);
      CHECK(time >= least);
      CHECK(time.count() * 95 <= least.count() * 100);
    }
  }
}

TEST_CASE("staged: on a torus a gather takes no longer than a scatter") {
  // Lanes share links there. So a rank sends its own units along the later axes of a lane no
  // earlier than those that it gets, or the first stages of other lanes would wait.
  for (const std::vector<uint32_t>& sizes : kCubes)
    for (const int64_t part : {600, 60'000}) {
      const int64_t count = on_torus(OpKind::Psum, sizes, 1)->extent().ranks() * part;
      CHECK(takes_on_torus(OpKind::AllGather, sizes, count) <=
            takes_on_torus(OpKind::PsumScatter, sizes, count));
    }
}

TEST_CASE("staged: on a torus messages are as large as asked for, at most") {
  for (const OpKind kind : {OpKind::Psum, OpKind::PsumScatter, OpKind::AllGather})
    for (const int64_t part : {1, 7, 64})
      for (const int64_t largest : {1, 2, 3, 5, 8, 100}) {
        CAPTURE(part);
        CAPTURE(largest);
        const auto schedule = on_torus(kind, {2, 3, 4}, 24 * part, largest);
        CHECK(schedule->largest_message() <= largest);
        CHECK(schedule->largest_message() == schedule->Schedule::largest_message());
      }
}

}  // namespace
}  // namespace orrery::test
