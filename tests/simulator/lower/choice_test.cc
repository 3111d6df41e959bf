// Tests the choice of algorithms, by times worked out by hand from the figures of the links.

#include "simulator/lower/choice.h"

#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/simulator/lower/choice_site.h"
#include "tests/simulator/slot_protocol.h"

namespace orrery {
namespace {

using test::both_ways_time;
using test::ChoiceSite;
using test::contains;
using test::doubling_time;
using test::group;
using test::kLink;
using test::pick;
using test::ring_time;
using test::says;

TEST_CASE("choice: where no two messages share a link, the times are those of the closed forms") {
  for (uint32_t ranks = 2; ranks <= 20; ++ranks) {
    for (const int64_t elements : {1, 7, 1'000, 100'000, 400'001}) {
      const std::string text = pick(OpKind::Psum, ranks, elements);
      INFO(text);
      // The reason names the two that take least. Each rank has ranks - 1 links, and a ring takes
      // two of them. Rings for groups of up to 16 ranks are searched for.
      const int64_t rings = ranks >= 5 && ranks <= 16 ? (ranks - 1) / 2 : 1;
      const Duration ring = ring_time(ranks, elements, kLink.latency, rings);
      const Duration both = both_ways_time(ranks, elements, kLink.latency, rings);
      const bool gains = ranks > 2 && both < ring;
      CHECK(says(text, gains ? "bidirectional" : "ring", gains ? both : ring));
      const Duration doubling = doubling_time(ranks, elements, kLink.latency);
      if (std::has_single_bit(ranks) && (ranks == 2 || doubling < ring))
        CHECK(says(text, "recursive_doubling", doubling));
    }
  }
}

TEST_CASE("choice: the algorithm that takes less time") {
  // There are two links of 1 us and 50 GB/s between any two of 8 ranks, and 4 MiB to reduce.
  //   ring:     14 steps of 2 us + 524,288 B = 14 (2 us + 10.48576 us)  = 174.80064 us
  //   doubling: 3 steps of 2 us + 4,194,304 B = 3 (2 us + 83.88608 us)  = 257.65824 us
  CHECK(ChoiceSite(OpKind::Psum, switch_fabric(8, kLink), 1 << 20).pick() ==
        "ring: ring 174.80064 us < recursive_doubling 257.65824 us (model)");
  // 32 B over 8 ranks take the ring 14 (1 us + 4 B / 50 GB/s = 80 ps), doubling 3 (1 us + 640 ps).
  CHECK(pick(OpKind::Pmax, 8, 8) ==
        "recursive_doubling: recursive_doubling 3.00192 us < ring 14.00112 us (model)");
}

TEST_CASE("choice: messages that share links are timed with the sharing") {
  // On a ring of 8 devices, the routes of ranks at distance 2 have 2 links, each shared by two
  // messages; at distance 4 they have 4 links, each shared by two, since even ranks go on and odd
  // ones back. 32 B take 640 ps at the full rate. Doubling takes (1 + 2 + 4) us and (1 + 2 + 2) 640
  // ps, the ring 14 (1 us + 4 B / 50 GB/s = 80 ps).
  CHECK(ChoiceSite(OpKind::Psum, ring_fabric(8, kLink), 8).pick() ==
        "recursive_doubling: recursive_doubling 7.0032 us < ring 14.00112 us (model)");
}

TEST_CASE("choice: a ring goes both ways where neighbours have links both ways") {
  // 4 MiB over 8 ranks take the ring 14 (1 us + 524,288 B / 50 GB/s = 10.48576 us), and both ways
  // 14 (1 us + 5.24288 us).
  const std::string reason = "bidirectional: bidirectional 87.40032 us < ring 160.80064 us (model)";
  CHECK(ChoiceSite(OpKind::Psum, ring_fabric(8, kLink), 1 << 20).pick() == reason);
  // Where all ranks are joined, three rings share no link. 524,288 B are 131,072 elements, so a
  // message of a ring has 43,691 of them, and one of a way round a ring 21,846.
  CHECK(ChoiceSite(OpKind::Psum, fully_connected_fabric(8, kLink), 1 << 20).pick() ==
        "bidirectional: bidirectional 38.46752 us < ring 62.93392 us (model)");
  // 512 KiB of each rank take 7 such messages.
  CHECK(ChoiceSite(OpKind::AllGather, ring_fabric(8, kLink), 1 << 17).pick() ==
        "bidirectional: bidirectional 43.70016 us < ring 80.40032 us (model)");
  CHECK(ChoiceSite(OpKind::PsumScatter, ring_fabric(8, kLink), 1 << 20).pick() ==
        "bidirectional: bidirectional 43.70016 us < ring 80.40032 us (model)");
  // A chunk of one element cannot be halved.
  CHECK(ChoiceSite(OpKind::AllGather, ring_fabric(8, kLink), 1).pick() ==
        "ring: ring 7.00056 us = bidirectional 7.00056 us (model)");
}

TEST_CASE("choice: a ring does not go both ways where that gains nothing, unless it is named") {
  const auto only = [](const std::string& because) {
    return "ring: the only algorithm considered for all_gather (bidirectional: " + because +
           "; in_switch: no switch reduces)";
  };
  const std::string behind = only("both ways share each rank's links to the switch");
  CHECK(ChoiceSite(OpKind::AllGather, switch_fabric(8, kLink), 8).pick() == behind);
  const auto nodes = [](uint32_t count) {
    return Fabric(
        std::make_shared<const Nodes>(NodesForm{count,
                                                switch_fabric(4, kLink).shared_topology(),
                                                4,
                                                switch_fabric(4 * count, kLink).shared_topology(),
                                                false,
                                                false,
                                                {}}));
  };
  const auto set_aside = [](const Fabric& fabric) {
    std::vector<VertexId> ranks;
    for (uint32_t d = 0; d < fabric.devices(); ++d)
      ranks.emplace_back(d);
    return test::algorithm_called(OpKind::AllGather, "bidirectional")
        ->set_aside({fabric, ranks, 1, layout_of(fabric, ranks)}, {})
        .has_value();
  };
  CHECK(set_aside(nodes(1)));
  CHECK_FALSE(set_aside(nodes(2)));
  // In a list of links, ranks 0 and 3 have none to each other.
  std::vector<Link> line;
  for (uint32_t d = 0; d < 3; ++d)
    for (const auto& [from, to] : {std::pair(d, d + 1), std::pair(d + 1, d)})
      line.push_back({VertexId(from), VertexId(to), kLink.bandwidth, kLink.latency});
  CHECK(ChoiceSite(OpKind::AllGather, Fabric(4, {}, line), 8).pick() ==
        only("some neighbours have no links both ways"));
  // On a ring of 8 devices, a message from rank 3 back to rank 0 goes over three links. There are
  // two slots, so the third leaves when the first has arrived: 2 (3 us + 32 B / 50 GB/s = 640 ps).
  ChoiceSite half(OpKind::AllGather, ring_fabric(8, kLink), 8);
  half.groups = {group({0, 1, 2, 3})};
  CHECK(contains(half.pick(), "ring: ring 6.00128 us"));
  ChoiceSite pair(OpKind::AllGather, ring_fabric(2, kLink), 8);
  CHECK(pair.pick() == only("two ranks have one link each way"));
  // A link that is cut carries nothing back: the ring takes 3 (1 us + 640 ps).
  Fabric ring = ring_fabric(4, kLink);
  std::vector<Link> links = ring.links();
  links.back().cut = true;
  ChoiceSite cut(OpKind::AllGather, ring.with_links(std::move(links), ring.rate_parts()), 8);
  CHECK(contains(cut.pick(), "ring: ring 3.00192 us < bidirectional"));
  cut.asked.algorithm = pair.asked.algorithm = "bidirectional";
  CHECK(cut.pick() == "bidirectional: asked for");
  CHECK(pair.pick() == "bidirectional: asked for");
}

TEST_CASE(
    "choice: an exchange at once shares each device's link, one in turns pays every latency") {
  // The 4 ranks are under a switch, 2 us apart. Each sends 3 parts of 400,000 B, which take 8 us at
  // the full rate. At once they take 2 us + 3 x 8 us, in turns 3 (2 us + 8 us).
  CHECK(ChoiceSite(OpKind::AllToAll, switch_fabric(4, kLink), 400'000).pick() ==
        "direct: direct 26 us < pairwise 30 us (model)");
}

TEST_CASE("choice: reductions take time where the device's rate is given") {
  // There are 16 f32 over 2 ranks. Without a reduce rate the ring takes 2 (1 us + 640 ps), and
  // doubling 1 us + 1.28 ns. At 64 B/us the ring reduces 32 B once in 0.5 us, and doubling 64 B in
  // 1 us.
  ChoiceSite site(OpKind::Psum, 2, 16);
  site.device.reduce_rate = BytesPerSecond(64'000'000);
  CHECK(site.pick() ==
        "recursive_doubling: recursive_doubling 2.00128 us < ring 2.50128 us (model)");
}

TEST_CASE("choice: equal times go to the first of the table") {
  // Two messages of one element each way, or one of two, without a latency.
  CHECK(ChoiceSite(OpKind::Psum, fully_connected_fabric(2, {kLink.bandwidth, Duration()}), 2)
            .pick() == "ring: ring 160 ps = recursive_doubling 160 ps (model)");
}

TEST_CASE("choice: without elements nothing is timed") {
  CHECK(pick(OpKind::Psum, 8, 0) == "ring: without elements it is discarded");
}

TEST_CASE("choice: the slowest group decides, and groups of one do not count") {
  // The operand has 400,000 B, and messages go over two links. Over 8 ranks the ring takes 14 (2 us
  // + 50,000 B / 50 GB/s = 1 us) = 42 us, and doubling 3 (2 us + 8 us) = 30 us. Over 2 ranks the
  // ring takes 2 (2 + 4) = 12 us, and doubling 10 us.
  ChoiceSite site(OpKind::Psum, switch_fabric(11, kLink), 100'000);
  site.groups = {group({0, 1, 2, 3, 4, 5, 6, 7}), group({8, 9}), group({10})};
  CHECK(site.pick() == "recursive_doubling: recursive_doubling 30 us < ring 42 us (model)");
}

TEST_CASE("choice: of groups with the same shape one is timed, unless their links differ") {
  std::vector<Link> links;
  for (uint32_t d = 0; d < 40; d += 2) {
    const BytesPerSecond bandwidth(d < 38 ? 50'000'000'000 : 5'000'000'000);
    links.push_back({VertexId(d), VertexId(d + 1), bandwidth, kLink.latency});
    links.push_back({VertexId(d + 1), VertexId(d), bandwidth, kLink.latency});
  }
  ChoiceSite site(OpKind::Psum, Fabric(40, {}, links), 100'000);
  site.groups.clear();
  for (uint32_t d = 0; d < 40; d += 2)
    site.groups.push_back(group({d, d + 1}));
  CHECK(Groupings(site.fabric).of(site.groups).shapes == std::vector<size_t>{0, 19});
  // Over the slow link, doubling takes 1 us + 400,000 B / 5 GB/s, and the ring 2 (1 us + 200,000 B
  // / 5 GB/s).
  CHECK(site.pick() == "recursive_doubling: recursive_doubling 81 us < ring 82 us (model)");
}

TEST_CASE("choice: of groups of many shapes some are timed, and the reason says so") {
  ChoiceSite site(OpKind::Psum, ring_fabric(60, kLink), 8);
  site.groups.clear();
  for (uint32_t shape = 1; shape <= 10; ++shape)
    site.groups.push_back(group({shape, 30 + 2 * shape}));
  CHECK(site.pick().find("(model, 8 of 10 shapes of groups timed)") != std::string::npos);
}

TEST_CASE("choice: an algorithm that cannot run there is not chosen") {
  // There are one-way links to the next rank only. Doubling also sends back, which works if a route
  // around the ring exists. Without the last link there is no such route.
  std::vector<Link> onward;
  for (uint32_t d = 0; d < 3; ++d)
    onward.push_back({VertexId(d), VertexId(d + 1), kLink.bandwidth, kLink.latency});
  ChoiceSite chain(OpKind::Psum, Fabric(4, {}, onward), 8);
  CHECK(chain.pick() ==
        "ring: the first that fits: ring has no route for some message; recursive_doubling has no "
        "route for some message");
  // With one slot, the ranks of a ring that forwards without storing deadlock. Doubling takes two
  // messages of 32 bytes, each 640 ps and 1 us.
  ChoiceSite narrow(OpKind::Psum, 4, 8);
  narrow.asked.slots = 1;
  CHECK(narrow.pick() ==
        "recursive_doubling: recursive_doubling takes 2.00128 us (model); ring would hang; "
        "bidirectional would hang");
}

TEST_CASE("choice: an algorithm that the scenario names is taken") {
  ChoiceSite asked(OpKind::Psum, 8, 8);
  asked.asked.algorithm = "ring";
  CHECK(asked.pick() == "ring: asked for");
  asked.asked.algorithm = "rings";
  CHECK(
      asked.pick() ==
      "algorithm: expected one of ring, recursive_doubling, bidirectional, halving_doubling, tree, "
      "one_shot, got \"rings\"; did you mean \"ring\"?");
  asked.request.kind = OpKind::AllGather;
  asked.asked.algorithm = "recursive_doubling";
  CHECK(asked.pick() ==
        "algorithm: expected one of ring, bidirectional, halving_doubling, bruck, pat, got "
        "\"recursive_doubling\"");
}

TEST_CASE("choice: where there is one algorithm, that is the reason") {
  CHECK(pick(OpKind::Ppermute, 8, 8) == "direct: the only algorithm for ppermute");
  CHECK(pick(OpKind::PsumScatter, 2, 8) ==
        "ring: the only algorithm considered for psum_scatter (bidirectional: two ranks have one "
        "link each way; in_switch: no switch reduces; one_shot: only if asked for)");
  CHECK(
      ChoiceSite(OpKind::AllToAll, switch_fabric(1025, kLink), 1025).pick() ==
      "pairwise: the only algorithm considered for all_to_all (direct: expected groups of at most "
      "1024 ranks, got 1025)");
}

TEST_CASE("choice: the message for an algorithm that does not fit") {
  ChoiceSite asked(OpKind::AllToAll, switch_fabric(1025, kLink), 1025);
  asked.asked.algorithm = "direct";
  CHECK(asked.pick() == "algorithm: expected groups of at most 1024 ranks, got 1025 (direct)");
  // 1024 ranks with 1024 connections of 5 channels each have 5,242,880 channels.
  ChoiceSite wide(OpKind::AllToAll, switch_fabric(1024, kLink), 1024);
  wide.asked.channels = 5;
  wide.asked.algorithm = "direct";
  CHECK(wide.pick() ==
        "algorithm: expected at most 4194304 channels over all ranks of a group, got 5242880 "
        "(direct)");
  ChoiceSite ring(OpKind::AllGather, switch_fabric(8192, kLink), 8);
  ring.asked.channels = 1024;
  CHECK(ring.pick() ==
        "algorithm: expected at most 4194304 channels over all ranks of a group, got 8388608 "
        "(ring)");
}

Fabric reducing_star(uint32_t devices) {
  return switch_fabric(devices, kLink).with_reduction({VertexId(devices)});
}

TEST_CASE("choice: a switch that reduces is timed with the other algorithms") {
  // There are 32 B over 8 ranks, 1 us per link. In the switch 8 x 4 B go up, 4 B down, 4 B up and 7
  // x 4 B down: 68 B at 50 GB/s take 1.36 ns. Doubling takes 3 (2 us + 640 ps).
  CHECK(ChoiceSite(OpKind::Psum, reducing_star(8), 8).pick() ==
        "in_switch: in_switch 4.00136 us < recursive_doubling 6.00192 us (model)");
  // Each of 8 ranks has a part of 400,000 B. In the switch its first piece of 64 KiB takes 1.31072
  // us up, and all take 7 x 8 us down and 2 us; the ring takes 7 (2 us + 8 us).
  CHECK(ChoiceSite(OpKind::AllGather, reducing_star(8), 100'000).pick() ==
        "in_switch: in_switch 59.31072 us < ring 70 us (model)");
}

TEST_CASE("choice: what would take more memory than the limit in a run is not chosen") {
  // A switch node of each rank has a port to each rank, and each port remembers the messages of
  // all. The ring takes 599 messages of 400 B, each 2 us and 8 ns.
  CHECK(
      ChoiceSite(OpKind::AllGather, reducing_star(600), 100).pick() ==
      "ring: ring takes 1202792 ns (model, extended from 18 and 37 ranks); in_switch may take more "
      "memory than the limit allows (--limit state=SIZE)");
  // A message of 400 B takes 2 us and 8 ns. Doubling among 512 ranks has 9 rounds, and the other 88
  // ranks need one more, of 2,016 ns since two messages share a link. The ring has 2 x 599 rounds
  // of 2,000.08 ns.
  CHECK(ChoiceSite(OpKind::Psum, reducing_star(600), 100).pick() ==
        "recursive_doubling: recursive_doubling 20.09 us < ring 2.396 ms (model, extended from 18 "
        "and "
        "37 ranks); in_switch may take more memory than the limit allows (--limit state=SIZE)");
}

TEST_CASE("choice: without a switch that reduces, in_switch is no algorithm of the fabric") {
  ChoiceSite none(OpKind::AllGather, switch_fabric(4, kLink), 8);
  CHECK(contains(none.pick(), "in_switch: no switch reduces"));
  none.asked.algorithm = "in_switch";
  CHECK(none.pick() ==
        "algorithm: expected a switch that reduces and has a link to each rank of a group and from "
        "it, got no switch that reduces (in_switch)");
  none.asked.algorithm = "in_swich";
  CHECK(none.pick() ==
        "algorithm: expected one of ring, bidirectional, halving_doubling, bruck, pat, got "
        "\"in_swich\"");
  ChoiceSite there(OpKind::AllGather, reducing_star(4), 8);
  there.asked.algorithm = "in_swich";
  CHECK(there.pick() ==
        "algorithm: expected one of ring, bidirectional, in_switch, halving_doubling, bruck, pat, "
        "got \"in_swich\"; did you mean \"in_switch\"?");
}

TEST_CASE("choice: in_switch fits only where each group is on one switch that reduces") {
  // There are two joined switches of two devices each; the second switch does not reduce.
  std::vector<Link> links;
  for (const auto& [from, to] : {std::pair(0U, 4U), {1U, 4U}, {2U, 5U}, {3U, 5U}, {4U, 5U}}) {
    links.push_back({VertexId(from), VertexId(to), kLink.bandwidth, kLink.latency});
    links.push_back({VertexId(to), VertexId(from), kLink.bandwidth, kLink.latency});
  }
  const Fabric fabric = Fabric(4, {"a", "b"}, links).with_reduction({VertexId(4)});
  ChoiceSite all(OpKind::AllGather, fabric, 8);
  const std::string misfit =
      "in_switch: expected a switch that reduces and has a link to each rank of a group and from "
      "it, got none that has them all)";
  CHECK(contains(all.pick(), misfit));
  all.groups = {group({0, 1}), group({2, 3})};
  CHECK(contains(all.pick(), misfit));
  all.groups = {group({0, 1})};
  CHECK(contains(all.pick(), "in_switch"));
  all.asked.algorithm = "in_switch";
  CHECK(all.pick() == "in_switch: asked for");
}

/// Returns a transport with protocols that cut messages to 512 KiB.
TransportFigures slots(std::initializer_list<std::string> names) {
  TransportFigures transport;
  for (const std::string& name : names)
    transport.protocols.push_back(test::slot_protocol(Bytes(1 << 19), name));
  return transport;
}

TEST_CASE("choice: a broadcast along a chain, with messages that are cut to slots or by rule") {
  // 4 MiB over 8 ranks, 2 us apart, are 8 pieces of 524,288 B, which take 10.48576 us each. Along
  // the chain it takes 8 + 6 pieces and 7 latencies. At once it takes 7 x 83.88608 us on the
  // source's link, and a latency.
  ChoiceSite large(OpKind::Pbroadcast, switch_fabric(8, kLink), 1 << 20);
  large.transport = slots({"simple"});
  CHECK(
      large.pick() ==
      "ring (simple): ring (simple) 160.80064 us < direct (simple) at least 587.20256 us (model)");
  // 32 B take 640 ps. The chain pays every latency.
  ChoiceSite small(OpKind::Pbroadcast, switch_fabric(8, kLink), 8);
  small.transport = slots({"simple"});
  CHECK(small.pick() ==
        "direct (simple): direct (simple) 2.00448 us < ring (simple) 14.00448 us (model)");
  // A protocol without slots cuts the message of the chain by our rule: 64 pieces of 64 KiB take
  // 1.31072 us each, 64 + 6 of them one after another, and 7 latencies.
  large.transport->protocols.emplace_back().name = "whole";
  const std::string text = large.pick();
  INFO(text);
  CHECK(contains(text, "ring (whole) 105.7504 us < ring (simple) 160.80064 us"));
}

TEST_CASE("choice: without a transport, a broadcast goes along a chain piece by piece") {
  ChoiceSite site(OpKind::Pbroadcast, switch_fabric(8, kLink), 1 << 20);
  CHECK(site.pick() == "ring: ring 105.7504 us < direct 589.20256 us (model)");
  // 128 MiB are 512 pieces of 256 KiB, 5.24288 us each.
  const std::string large = ChoiceSite(OpKind::Pbroadcast, switch_fabric(8, kLink), 1 << 25).pick();
  INFO(large);
  CHECK(contains(large, "ring 2.72981184 ms < direct "));
  site.asked.algorithm = "ring";
  CHECK(site.pick() == "ring: asked for");
  site.asked.algorithm = "rings";
  CHECK(site.pick() ==
        "algorithm: expected one of direct, ring, got \"rings\"; did you mean \"ring\"?");
  // This protocol serves rings alone.
  ProtocolFigures& whole = site.transport.emplace().protocols.emplace_back();
  whole.name = "whole";
  whole.algorithms = {"ring"};
  site.asked.algorithm.reset();
  CHECK(site.pick() ==
        "ring (whole): the only algorithm considered for pbroadcast (direct: no protocol serves "
        "it; in_switch: no switch reduces)");
  site.asked.algorithm = "ring";
  CHECK(site.pick() == "ring (whole): asked for");
}

TEST_CASE("choice: a group of one copies") {
  CHECK(pick(OpKind::Psum, 1, 8) == "ring: a group of one only copies");
  // One method fits there, as with others for other kinds.
  CHECK(ChoiceSite(OpKind::AllGather, ring_fabric(1, kLink), 8).pick() ==
        "ring: a group of one only copies");
  CHECK(pick(OpKind::Psend, 1, 8) == "direct: a group of one only copies");
  // Its protocol passes no messages.
  ChoiceSite site(OpKind::Psum, switch_fabric(1, kLink), 8);
  site.transport = slots({"simple"});
  CHECK(site.pick() == "ring: a group of one only copies");
  site.asked.algorithm = "ring";
  CHECK(site.pick() == "ring: asked for");
}

TEST_CASE("choice: one_shot is taken only where it is asked for, whatever it would take") {
  // one_shot has one latency; the other algorithms have two or more.
  ChoiceSite site(OpKind::Psum, switch_fabric(3, kLink), 1);
  CHECK(!contains(site.pick(), "one_shot"));
  site.transport = slots({"simple"});
  CHECK(!contains(site.pick(), "one_shot"));
  site.asked.algorithm = "one_shot";
  CHECK(site.pick() == "one_shot (simple): asked for");
}

TEST_CASE("algorithms: names are unique within a kind, and every kind has one") {
  for (const OpRules& of : all_rules()) {
    if (of.family != Family::Collective)
      continue;
    const auto algorithms = algorithms_for(of.kind);
    CHECK_FALSE(algorithms.empty());
    for (size_t i = 0; i < algorithms.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        CHECK(algorithms[i]->name != algorithms[j]->name);
  }
}

TEST_CASE("choice: what its rates make slower than the fastest is not timed") {
  ProtocolFigures fast = test::slot_protocol(Bytes(1 << 20), "fast");
  fast.algorithms = {"ring"};
  ProtocolFigures slow = fast;
  slow.name = "slow";
  slow.channel_rate = BytesPerSecond(1'000'000);
  const auto site = [&] {
    ChoiceSite made(OpKind::Psum, 4, 1024);
    made.transport = TransportFigures{{slow, fast}};
    return made;
  };
  // A channel of the ring sends 6 chunks of 1,024 B: 6,144 us at 1 MB/s.
  const Duration taken = ring_time(4, 1024, kLink.latency);
  CHECK(site().pick() == "ring (fast): ring (fast) " + quantity_text(taken) +
                             " < ring (slow) at least 6144 us (model)");
  // Returns a rate at which 6 KiB take at least this long, but not a picosecond more.
  const auto rate_for = [](Duration time) {
    return BytesPerSecond(6 * 1024 * kPicosecondsPerSecond / time.count());
  };
  slow.channel_rate = rate_for(taken + Duration(1));
  CHECK(contains(site().pick(), "ring (slow) at least"));
  slow.channel_rate = rate_for(taken) + BytesPerSecond(1);
  CHECK(!contains(site().pick(), "at least"));  // it was timed, since it might be as fast
}

TEST_CASE("choice: of methods that take the same time the first counts, in whatever order timed") {
  ChoiceSite site(OpKind::Psum, 4, 1024);
  ProtocolFigures first = test::slot_protocol(Bytes(1 << 20), "first");
  first.algorithms = {"ring"};
  first.latency = Duration(1'000'000);  // 6 steps
  ProtocolFigures second = first;
  second.name = "second";
  second.latency.reset();
  second.launch = Duration(6'000'000);  // its bound is higher, so it is timed later
  site.transport = TransportFigures{{second, first}};
  CHECK(contains(site.pick(), "ring (second): ring (second) "));
  site.transport = TransportFigures{{first, second}};
  CHECK(contains(site.pick(), "ring (first): ring (first) "));
}

}  // namespace
}  // namespace orrery
