// Tests which connections communicators have, and what each takes: one in each direction between
// two ranks, for all sites of a group on a stream.

#include "simulator/memory/transport_buffers.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "simulator/memory/profile.h"
#include "tests/simulator/lower/lower_rig.h"
#include "tests/simulator/slot_protocol.h"

namespace orrery::test {
namespace {

const Parameters kRing = {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}};

Parameters with(Parameters parameters, const std::string& key, Attribute value) {
  parameters.emplace_back(key, std::move(value));
  return parameters;
}

/// `Connections` is a program on four devices with the f32 argument "a" of `elements` elements.
struct Connections {
  LowerRig rig{4};
  int ops = 0;

  explicit Connections(int64_t elements = 8) { rig.argument("a", Dtype::F32, {elements}); }
  Connections& op(const std::string& op, const Parameters& parameters) {
    rig.op(op, "o" + std::to_string(ops++), {"a"}, parameters);
    return *this;
  }
  Connections& on(TransportFigures transport) {
    rig.cluster.transport = std::move(transport);
    return *this;
  }
  /// Returns the bytes per device.
  std::vector<int64_t> bytes(std::optional<int64_t> channels = std::nullopt) {
    std::vector<int64_t> bytes;
    for (const std::vector<ConnectionBuffers>& kinds :
         transport_buffers(rig.program, rig.lower(), channels)) {
      bytes.push_back(0);
      for (const ConnectionBuffers& buffers : kinds)
        bytes.back() += buffers.total().count();
    }
    return bytes;
  }
  /// Returns the slots per device, of a transport with one protocol.
  std::vector<int64_t> slots() {
    on(TransportFigures{{slot_protocol(Bytes(64))}});
    std::vector<int64_t> slots = bytes();
    for (int64_t& device : slots)
      device /= 64;
    return slots;
  }
};

Parameters all_to_all(const std::string& algorithm, int64_t channels) {
  return {{"axis_name", Names{"x"}},   {"algorithm", algorithm}, {"split_axis", int64_t{0}},
          {"concat_axis", int64_t{0}}, {"tiled", true},          {"channels", channels}};
}
const Parameters kExchange = {{"axis_name", Names{"x"}},
                              {"split_axis", int64_t{0}},
                              {"concat_axis", int64_t{0}},
                              {"tiled", true}};
const Parameters kDoubling = {{"axis_name", Names{"x"}},
                              {"algorithm", std::string("recursive_doubling")}};

/// Returns a transport of one protocol. Collectives have 3 channels, sends have 5. In each channel
/// a connection takes 1,000 B of the receiver and 1 B of the sender.
TransportFigures library() {
  TransportFigures transport{{slot_protocol(Bytes(64))}};
  transport.connections = {{ConnectionKind::Collectives, {3, Bytes(1000), Bytes(1)}},
                           {ConnectionKind::Sends, {5, Bytes(1000), Bytes(1)}}};
  return transport;
}

using Slots = std::vector<int64_t>;

TEST_CASE("transport buffers: in a ring one connection leads to each rank") {
  CHECK(Connections().op("psum", kRing).slots() == Slots(4, 2));
}

TEST_CASE("transport buffers: a connection has as many slots as the collective says") {
  CHECK(Connections().op("psum", with(kRing, "slots", int64_t{5})).slots() == Slots(4, 5));
}

TEST_CASE("transport buffers: every channel has connections of its own") {
  CHECK(Connections().op("psum", with(kRing, "channels", int64_t{3})).slots() == Slots(4, 6));
}

TEST_CASE("transport buffers: in a direct all-to-all the other three ranks send to each") {
  const Parameters parameters = {{"axis_name", Names{"x"}},
                                 {"algorithm", std::string("direct")},
                                 {"split_axis", int64_t{0}},
                                 {"concat_axis", int64_t{0}},
                                 {"tiled", true}};
  CHECK(Connections().op("all_to_all", parameters).slots() == Slots(4, 6));
}

TEST_CASE("transport buffers: sites of one group on one stream share them") {
  CHECK(Connections().op("psum", kRing).op("pmax", kRing).slots() == Slots(4, 2));
}

TEST_CASE("transport buffers: a shared connection has slots for the site with the most") {
  CHECK(Connections().op("psum", kRing).op("pmax", with(kRing, "slots", int64_t{5})).slots() ==
        Slots(4, 5));
}

TEST_CASE("transport buffers: another stream has connections of its own") {
  CHECK(Connections().op("psum", kRing).op("pmax", with(kRing, "stream", int64_t{1})).slots() ==
        Slots(4, 4));
}

TEST_CASE("transport buffers: algorithms share the connections that both have") {
  // In the ring, ranks 0..3 receive from 3, 0, 1 and 2. By doubling, they receive from the ranks
  // that differ in one bit: {1, 2}, {0, 3}, {3, 0} and {2, 1}. So ranks 0 and 2 have three
  // connections.
  CHECK(Connections().op("psum", kDoubling).slots() == Slots(4, 4));
  CHECK(Connections().op("psum", kRing).op("pmax", kDoubling).slots() == Slots{6, 4, 6, 4});
}

TEST_CASE("transport buffers: how an algorithm numbers its channels makes no connection") {
  // Direct numbers its three connections by distance.
  CHECK(Connections()
            .op("all_to_all", all_to_all("direct", 1))
            .op("all_to_all", all_to_all("pairwise", 1))
            .slots() == Slots(4, 6));
  CHECK(Connections()
            .op("all_to_all", all_to_all("direct", 1))
            .op("all_to_all", all_to_all("direct", 2))
            .slots() == Slots(4, 12));
  const Parameters broadcast = {{"axis_name", Names{"x"}}, {"source", int64_t{0}}};
  CHECK(Connections().op("pbroadcast", broadcast).op("psum", kRing).slots() == Slots{2, 2, 4, 4});
}

TEST_CASE("transport buffers: sends and receives have connections besides those of collectives") {
  // The ring's connection leads between two ranks that the all-to-all connects, too.
  CHECK(Connections().op("all_to_all", all_to_all("direct", 1)).op("psum", kRing).slots() ==
        Slots(4, 6 + 2));
}

TEST_CASE("transport buffers: only a rank that receives has them") {
  const Parameters one_pair = {{"axis_name", Names{"x"}},
                               {"perm", std::vector<std::vector<int64_t>>{{0, 2}}}};
  CHECK(Connections().op("ppermute", one_pair).slots() == Slots{0, 0, 2, 0});
}

TEST_CASE("transport buffers: they are part of what is reserved, for each device its own") {
  Connections program;
  program.op("ppermute",
             {{"axis_name", Names{"x"}}, {"perm", std::vector<std::vector<int64_t>>{{0, 2}}}});
  program.rig.cluster.transport = TransportFigures{{slot_protocol(Bytes(1000))}};
  const Lowered& lowered = program.rig.lower();
  MemoryPolicy policy;
  policy.alignment = Bytes(1);
  const MemoryProfile without = profile(program.rig.program, lowered, policy);
  policy.reserved = Bytes(7);
  policy.counts_transport = true;
  const MemoryProfile with = profile(program.rig.program, lowered, policy);
  for (uint32_t d = 0; d < 4; ++d) {
    const Bytes buffers = Bytes(d == 2 ? 2000 : 0);
    const DeviceMemory& device = with.of(LogicalId(d));
    CHECK(device.transport == buffers);
    CHECK(device.reserved == Bytes(7) + buffers);
    CHECK(device.peak == without.of(LogicalId(d)).peak + Bytes(7) + buffers);
  }
  CHECK(with.largest_peak() == without.largest_peak() + Bytes(2007));
}

TEST_CASE("transport buffers: all protocols that serve the exchange have slots in a connection") {
  ProtocolFigures ll = slot_protocol(Bytes(100), "ll");
  ll.slots = 8;
  ll.channels = 4;
  ProtocolFigures simple = slot_protocol(Bytes(1000), "simple");
  simple.channels = 6;
  ProtocolFigures sends = slot_protocol(Bytes(10'000), "sends");
  sends.algorithms = {"direct", "pairwise"};
  ProtocolFigures broadcasts = slot_protocol(Bytes(100'000), "broadcasts");
  broadcasts.ops = {"pbroadcast"};
  // Each of 8 slots has 100 B, and each of 2 slots 1,000 B. A collective may use up to 6 channels.
  CHECK(Connections().on({{ll, simple, sends, broadcasts}}).op("psum", kRing).bytes() ==
        Slots(4, 6 * (8 * 100 + 2 * 1000)));
}

TEST_CASE("transport buffers: a ring takes channels times what a connection takes at both ends") {
  // One connection leads to each rank, and one from it.
  CHECK(Connections().on(library()).op("psum", kRing).bytes() == Slots(4, 3 * (1000 + 1)));
}

TEST_CASE("transport buffers: in a mixed program two ranks are connected once in each direction") {
  Connections program;
  program.on(library()).op("psum", kRing).op("pmax", kDoubling).op("pmin", kRing);
  program.op("all_to_all", kExchange).op("all_to_all", all_to_all("pairwise", 5));
  program.op("ppermute",
             {{"axis_name", Names{"x"}}, {"perm", std::vector<std::vector<int64_t>>{{0, 2}}}});
  // By the ring, ranks 0..3 get messages from {3}, {0}, {1}, {2}; by doubling from {1, 2}, {0, 3},
  // {0, 3}, {1, 2}. Together 3, 2, 3 and 2 connections lead to them. They send to {1}, {2}, {3},
  // {0} and to {1, 2}, {0, 3}, {0, 3}, {1, 2}: 2, 3, 2 and 3. All others send to each in the
  // all-to-all, and the permutation's connection is one of those.
  constexpr int64_t kSends = 5 * (3 * 1000 + 3);
  CHECK(program.bytes() ==
        Slots{3 * 3002 + kSends, 3 * 2003 + kSends, 3 * 3002 + kSends, 3 * 2003 + kSends});
}

TEST_CASE("transport buffers: the size of messages changes neither channels nor bytes") {
  // A channel has at least 64 B: 32 B use one, and 32 KiB all 24.
  ProtocolFigures protocol = slot_protocol(Bytes(64));
  protocol.channels = 24;
  protocol.channel_bytes = Bytes(64);
  for (const bool figures : {false, true}) {
    CAPTURE(figures);
    TransportFigures transport{{protocol}};
    if (figures)
      transport.connections = library().connections;
    Connections small(8);
    Connections large(8192);
    small.on(transport).op("psum", kRing);
    large.on(transport).op("psum", kRing);
    CHECK(small.bytes() == large.bytes());
    CHECK(small.rig.lowered.collectives[0].schedule->extent().channels <
          large.rig.lowered.collectives[0].schedule->extent().channels);
  }
}

TEST_CASE("transport buffers: an op's channels override those of memory, and these the cluster's") {
  const Parameters two = with(kRing, "channels", int64_t{2});
  CHECK(Connections().on(library()).op("psum", kRing).bytes(7) == Slots(4, 7 * 1001));
  CHECK(Connections().on(library()).op("psum", two).bytes(7) == Slots(4, 2 * 1001));
  CHECK(Connections().on(library()).op("psum", two).bytes() == Slots(4, 2 * 1001));
  // A site that does not ask for channels needs the cluster's.
  CHECK(Connections().on(library()).op("psum", two).op("pmax", kRing).bytes() ==
        Slots(4, 3 * 1001));
}

TEST_CASE("transport buffers: how they are worked out") {
  CHECK(worked_out({ConnectionKind::Sends, 32, Bytes(10 << 20), Bytes(2 << 20), 7, 6}) ==
        "32 channels x (7 connections in x 10 MiB + 6 out x 2 MiB)");
  CHECK(worked_out({ConnectionKind::InSwitch, 1, Bytes(1000), Bytes(), 1, 0}) ==
        "1 channel x 1 connection in x 1000 B");
  CHECK(worked_out({ConnectionKind::Sends, 2, Bytes(1000), Bytes(64), 0, 3}) ==
        "2 channels x 3 connections out x 64 B");
}

}  // namespace
}  // namespace orrery::test
