// Tests the times by which algorithms are compared: those of large groups, which are extrapolated
// from smaller ones, and lower bounds.

#include <memory>

#include <doctest/doctest.h>

#include "models/fabric/topology.h"
#include "simulator/lower/choice.h"
#include "tests/simulator/lower/choice_site.h"
#include "tests/simulator/slot_protocol.h"

namespace orrery {
namespace {

using test::algorithm_called;
using test::ChoiceSite;
using test::contains;
using test::doubling_time;
using test::group;
using test::hop;
using test::kLink;
using test::pick;
using test::ring_time;
using test::says;

TEST_CASE("choice: groups of more than 64 ranks are extrapolated from two sizes, by their steps") {
  const Duration latency = kLink.latency * 2;
  for (const uint32_t ranks : {128U, 160U, 1024U}) {
    const int64_t elements = int64_t{ranks} * 50;  // whole chunks
    const std::string text = ChoiceSite(OpKind::Psum, switch_fabric(ranks, kLink), elements).pick();
    INFO(text);
    CHECK(contains(text, ranks == 160 ? "(model, extended from 20 and 40 ranks)"
                                      : "(model, extended from 32 and 64 ranks)"));
    CHECK(says(text, "ring", ring_time(ranks, elements, latency)));
    if (std::has_single_bit(ranks))
      CHECK(says(text, "recursive_doubling", doubling_time(ranks, elements, latency)));
  }
  // Parts of 12 B take 240 ps: 2 us + 91 x 240 ps at once, and 91 (2 us + 240 ps) in turns.
  CHECK(ChoiceSite(OpKind::AllToAll, switch_fabric(92, kLink), 276).pick() ==
        "direct: direct 2.02184 us < pairwise 182.02184 us (model, extended from 23 and 46 ranks)");
}

TEST_CASE("choice: a ring both ways of more than 64 ranks is extrapolated from spaced ranks") {
  // On a ring of 128 devices, 64 ranks are 2 links apart, and 32 ranks 4. Half of a chunk of 20 MB
  // takes 200 us. So the two sizes take 126 (2 us + 200 us) and 62 (4 us + 200 us). Ranks have 127
  // and 63 steps, and 255 in the whole group: it takes three times the first less twice the second.
  const Duration takes = Duration(126 * 202'000'000LL * 3 - 62 * 204'000'000LL * 2);
  const std::string text =
      ChoiceSite(OpKind::Psum, ring_fabric(128, kLink), int64_t{128} * 5'000'000).pick();
  INFO(text);
  CHECK(says(text, "bidirectional: bidirectional", takes));
  CHECK(contains(text, "(model, extended from 32 and 64 ranks)"));
}

TEST_CASE("choice: a group of more than 64 ranks of a torus is timed on smaller tori") {
  // The first 31 and 62 ranks of this torus fill no box of it, so no torus algorithm fits them.
  for (const std::vector<uint32_t>& sizes : {std::vector<uint32_t>{5, 5, 5}, {9, 9}, {8, 3, 4}}) {
    std::vector<TorusDimension> dimensions;
    for (const uint32_t size : sizes)
      dimensions.push_back({size, true, kLink});
    ChoiceSite site(OpKind::Psum, Fabric(std::make_shared<const Torus>(dimensions)), 1 << 26);
    const std::string picked = site.pick();
    CAPTURE(picked);
    CHECK(picked.starts_with("torus"));  // "torus" or "torus_pipelined"
  }
}

TEST_CASE("choice: on a torus small gathers take few rounds, and large ones rings along the axes") {
  const Fabric torus(std::make_shared<const Torus>(
      std::vector<TorusDimension>{{4, true, kLink}, {4, true, kLink}, {4, true, kLink}}));
  for (const OpKind kind : {OpKind::AllGather, OpKind::PsumScatter}) {
    const int64_t part = kind == OpKind::AllGather ? 1 : 64;
    CHECK(ChoiceSite(kind, torus, 100 * part).pick().starts_with("halving_doubling: "));
    CHECK(ChoiceSite(kind, torus, 1'000'000 * part).pick().starts_with("torus: "));
  }
}

TEST_CASE("choice: more than 64 ranks in a switch are extrapolated, which is exact there") {
  // 90 chunks of 200 B take 4 ns each. In turn, 90 go up, 1 down, 1 up and 89 down, and 4 us are
  // latency. (The links of both sizes divide evenly, so nothing is rounded.)
  ChoiceSite site(OpKind::Psum, reducing_star(90), 90 * 50);
  const std::string text = site.pick();
  INFO(text);
  CHECK(contains(text, "in_switch 4.724 us < "));
  CHECK(contains(text, "(model, extended from 22 and 45 ranks)"));
}

TEST_CASE("choice: more than 64 ranks in a chain are extrapolated by the ranks, which is exact") {
  // There are 8 pieces of 10.48576 us: the chain takes 8 + 126 pieces and 127 latencies of 2 us. At
  // once the source sends 127 times 83.88608 us.
  for (const uint32_t source : {0U, 31U, 32U, 63U, 64U, 100U, 127U}) {
    CAPTURE(source);
    ChoiceSite site(OpKind::Pbroadcast, switch_fabric(128, kLink), 1 << 20);
    site.transport = slots({"simple"});
    site.request.source = Node(source);
    const std::string text = site.pick();
    INFO(text);
    const std::string times =
        "ring (simple) 1.65909184 ms < direct (simple) at least 10.65353216 ms ";
    CHECK(contains(text, times + "(model, extended from 32 and 64 ranks)"));
    site.most_steps = kMostTimedSteps;  // then it is timed completely, and takes as long
    CHECK(contains(site.pick(), times + "(model)"));
  }
}

TEST_CASE("choice: a group of more than 64 ranks is timed completely if it has few steps") {
  ChoiceSite site(OpKind::AllGather, switch_fabric(128, kLink), 128);
  const Method ring{algorithm_called(OpKind::AllGather, "ring"), nullptr};
  site.most_steps = 128 * 128;  // each of 128 ranks has 128 steps
  CHECK_FALSE(site.time(ring).time.extended_from);
  --site.most_steps;
  CHECK(site.time(ring).time.extended_from == std::pair(32U, 64U));
}

TEST_CASE("choice: a tree of more than 64 ranks is extrapolated by its levels, which is exact") {
  // In a tree over a full mesh no two messages share a link. If they are not cut, n = 2^k - 1 ranks
  // take 2 (k - 1) times the half of the data and the latency (tree.h).
  ProtocolFigures whole;
  whole.pieces = 1;
  const ChoiceSite site(OpKind::Psum, fully_connected_fabric(255, kLink), 1 << 20);
  const QuietTime time = site.time({algorithm_called(OpKind::Psum, "tree"), &whole}).time;
  CHECK(time.extended_from == std::pair(31U, 63U));
  CHECK(time.takes == hop(1 << 19, kLink.latency) * 14);
}

TEST_CASE(
    "choice: a group of more than 64 ranks is timed completely if its method would be chosen") {
  // For 64 MiB in 34 nodes of 2, a ring takes as long as one that goes both ways.
  const auto inside = switch_fabric(2, {kLink.bandwidth * 8, kLink.latency}).shared_topology();
  const auto outside = switch_fabric(68, kLink).shared_topology();
  ChoiceSite site(
      OpKind::Psum,
      Fabric(std::make_shared<const Nodes>(NodesForm{34, inside, 2, outside, false, false, {}})),
      1 << 24);
  const auto extended = site.picked();
  CHECK_FALSE(std::get<Pick>(extended).alone);
  site.most_checked = kMostCheckedSteps;
  const auto checked = site.picked();
  const Pick& pick = std::get<Pick>(checked);
  CHECK(pick.because.ends_with("(model)"));
  site.most_steps = kMostTimedSteps;
  CHECK(pick.alone == site.time(pick.method).time.takes);
}

TEST_CASE("choice: an extrapolated time is not below the least that the links of all ranks allow") {
  // Rings along the axes of a torus of 8 x 8 x 8 are extrapolated from 3 x 3 x 3 and 4 x 4 x 4.
  ChoiceSite site(
      OpKind::Psum,
      Fabric(std::make_shared<const Torus>(std::vector<TorusDimension>(3, {8, true, kLink}))),
      int64_t{1} << 30);
  const auto torus = site.time({algorithm_called(OpKind::Psum, "torus"), nullptr});
  CHECK(torus.time.extended_from == std::pair(27U, 64U));
  CHECK(torus.time.takes >= torus.at_least);
  // An element of a link's share is sent by each of 2 (n - 1) / n of the data over 6 links.
  const Int128 bytes = Int128{2 * 511} * (int64_t{4} << 30) / 512 / 6;
  const Int128 exact = bytes * kPicosecondsPerSecond / kLink.bandwidth.count();
  CHECK(torus.at_least.count() >= exact);
  CHECK(torus.at_least.count() < exact + exact / 1'000);
  for (const uint32_t ranks : {96U, 128U})
    for (const OpKind kind : {OpKind::Psum, OpKind::AllGather, OpKind::PsumScatter})
      for (const Algorithm* const algorithm : algorithms_for(kind)) {
        const ChoiceSite even(kind, switch_fabric(ranks, kLink), int64_t{ranks} * 1'000);
        const SharedList<VertexId> all = vertices_of(even.groups[0]);
        if (algorithm->misfit({even.fabric, all, 1, layout_of(even.fabric, all)}))
          continue;
        CAPTURE(algorithm->name);
        const auto timed = even.time({algorithm, nullptr});
        CHECK(timed.at_least > Duration());
        CHECK(timed.time.takes >= timed.at_least);
      }
}

TEST_CASE("choice: a method of many steps takes at least the latencies of its chain of messages") {
  // Each NIC of 3 nodes of 32 begins a ring. A ring over 96 ranks has 190 messages, one after the
  // other, and each goes over two links.
  const auto inside = switch_fabric(32, kLink).shared_topology();
  const auto outside = switch_fabric(96, kLink).shared_topology();
  ChoiceSite site(
      OpKind::Psum,
      Fabric(std::make_shared<const Nodes>(NodesForm{3, inside, 32, outside, false, false, {}})),
      96);
  const auto ring = site.time({algorithm_called(OpKind::Psum, "ring"), nullptr});
  CHECK(ring.at_least == kLink.latency * 2 * 190);
  CHECK(ring.time.takes >= ring.at_least);
  CHECK(ring.time.takes < ring.at_least + Duration(1'000'000));
}

TEST_CASE("choice: a permutation of more than 64 ranks is timed completely") {
  // Each rank sends 4 MiB to the rank 64 further on. A rank sends a piece and receives one, 2 us +
  // 10.48576 us, 8 times.
  ChoiceSite site(OpKind::Ppermute, switch_fabric(128, kLink), 1 << 20);
  for (uint32_t rank = 0; rank < 128; ++rank)
    site.request.pairs.push_back({Node(rank), Node((rank + 64) % 128)});
  site.transport = slots({"one", "two"});
  CHECK(site.pick() == "direct (one): direct (one) 99.88608 us = direct (two) 99.88608 us (model)");
}

TEST_CASE("choice: no time is below the least that its rates allow") {
  ProtocolFigures protocol = test::slot_protocol(Bytes(512), "any");
  protocol.share = {1, 2};
  protocol.slots = 2;
  protocol.channels = 3;
  protocol.launch = Duration(700'000);
  const auto inside = switch_fabric(2, kLink).shared_topology();
  const auto outside = switch_fabric(4, kLink).shared_topology();
  const Fabric nodes(
      std::make_shared<const Nodes>(NodesForm{2, inside, 2, outside, false, false, {}}));
  const Fabric fabrics[] = {ring_fabric(4, kLink),
                            switch_fabric(4, kLink).with_reduction({VertexId(4)}), nodes};
  for (const OpKind kind : {OpKind::Psum, OpKind::AllGather, OpKind::PsumScatter, OpKind::AllToAll,
                            OpKind::Pbroadcast}) {
    for (const Algorithm* const algorithm : algorithms_for(kind)) {
      // At the last rate channels take longer than anything else.
      for (const int64_t rate :
           {int64_t{0}, int64_t{3'000'000'000}, int64_t{1'000'000}, int64_t{1'000'001}}) {
        if (rate > 0)
          protocol.channel_rate = BytesPerSecond(rate);
        else
          protocol.channel_rate.reset();
        for (const Fabric& fabric : fabrics) {
          ChoiceSite site(kind, fabric, 3000);
          site.request.nodes = 4;
          // Between nodes a channel is slower, faster, or as fast.
          protocol.network = {};
          if (rate > 0 && rate % 2 == 0)
            protocol.network.channel_rate = BytesPerSecond(rate / 3);
          else if (rate > 0)
            protocol.network.channel_rate = BytesPerSecond(rate * 3);
          const std::vector<VertexId> vertices = {VertexId(0), VertexId(1), VertexId(2),
                                                  VertexId(3)};
          if (algorithm->misfit({site.fabric, vertices, 3}))
            continue;
          CAPTURE(algorithm->name);
          Paths paths(site.fabric);
          const ScheduleMaker maker(site.device, Limits());
          QuietTimer timer(paths, maker, Limits());
          const Method method{algorithm, &protocol};
          const Duration least =
              timer.at_least(method, site.asked, site.request, {Dtype::F32}, vertices);
          const auto outcome = timer.of(method, site.asked, site.request, {Dtype::F32}, vertices);
          REQUIRE(std::holds_alternative<QuietTime>(outcome));
          CHECK(std::get<QuietTime>(outcome).takes >= least);
          // Every rank sends something, so the bound is greater than the launch alone.
          CHECK(least > Duration(700'000));
        }
      }
    }
  }
}

}  // namespace
}  // namespace orrery
