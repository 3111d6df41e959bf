// Tests the slots of connections: those to each rank count once for all sites of a group on a
// stream.

#include "simulator/memory/transport_buffers.h"

#include <string>
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

/// `Connections` is a program on four devices with the f32 argument "a" of 8 elements.
struct Connections {
  LowerRig rig{4};
  int ops = 0;

  Connections() { rig.argument("a", Dtype::F32, {8}); }
  Connections& op(const std::string& op, const Parameters& parameters) {
    rig.op(op, "o" + std::to_string(ops++), {"a"}, parameters);
    return *this;
  }
  /// Returns the slots per device.
  std::vector<int64_t> slots() {
    rig.cluster.transport = TransportFigures{{slot_protocol(Bytes(64))}};
    const Lowered& lowered = rig.lower();
    std::vector<int64_t> slots;
    for (const Bytes bytes : transport_buffers(rig.program, lowered))
      slots.push_back(bytes.count() / 64);
    return slots;
  }
};

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
  const Parameters doubling = {{"axis_name", Names{"x"}},
                               {"algorithm", std::string("recursive_doubling")}};
  // In the ring, ranks 0..3 receive from 3, 0, 1 and 2. By doubling, they receive from the ranks
  // that differ in one bit: {1, 2}, {0, 3}, {3, 0} and {2, 1}. So ranks 0 and 2 have three
  // connections.
  CHECK(Connections().op("psum", doubling).slots() == Slots(4, 4));
  CHECK(Connections().op("psum", kRing).op("pmax", doubling).slots() == Slots{6, 4, 6, 4});
}

TEST_CASE("transport buffers: how an algorithm numbers its channels makes no connection") {
  const auto all_to_all = [](const std::string& algorithm, int64_t channels) {
    return Parameters{
        {"axis_name", Names{"x"}},   {"algorithm", algorithm}, {"split_axis", int64_t{0}},
        {"concat_axis", int64_t{0}}, {"tiled", true},          {"channels", channels}};
  };
  // Direct numbers its three connections by distance. The ring's connection is one of the three.
  CHECK(Connections().op("all_to_all", all_to_all("direct", 1)).op("psum", kRing).slots() ==
        Slots(4, 6));
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

}  // namespace
}  // namespace orrery::test
