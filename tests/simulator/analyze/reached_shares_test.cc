// Tests how much of its bound an algorithm reaches on the fabrics that it is made for.

#include <cstdint>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "models/fabric/topology.h"
#include "simulator/analyze/fabric_bounds.h"
#include "tests/simulator/analyze/timed_call.h"
#include "tests/support/tries.h"
#include "tests/support/units.h"

namespace orrery::test {
namespace {

/// Returns whether the call takes at most 100/95 of its bound.
bool reaches_95_percent(const TimedCall& ran) {
  return ran.takes.count() * 95 <= ran.bound->least().count() * 100;
}

/// Returns nodes of some devices behind a switch of 450 GB/s, each with a NIC of 50 GB/s on a rail
/// of its own. Each link has a latency of 1 us.
Fabric h100s(uint32_t nodes, uint32_t devices) {
  const LinkFigures inside{BytesPerSecond(450 * kGBps), Duration(kUs)};
  const LinkFigures nic{BytesPerSecond(50 * kGBps), Duration(kUs)};
  NodesForm form{
      nodes,   std::make_shared<const Tree>(std::vector<TreeLevel>{{devices, 1, 1, inside}}),
      devices, nullptr,
      true,    true,
      nic};
  form.outside = std::make_shared<const Tree>(std::vector<TreeLevel>{{nodes, 1, 1, nic}}, devices);
  return Fabric(std::make_shared<const Nodes>(std::move(form)));
}

TEST_CASE("bounds: rings in nodes and between them reach 95 % on rails of 2 to 64 nodes") {
  // Up to 4 nodes, what a device sends and receives over all its links binds. Rings send 7/8 of it
  // inside the node, which alone takes 96.4 % of the bound on 2 nodes.
  for (const int64_t nodes : {2, 3, 4, 8, 16, 32, 64}) {
    CAPTURE(nodes);
    if (test::is_sanitized() && nodes > 8)
      continue;
    const Fabric fabric = h100s(static_cast<uint32_t>(nodes), 8);
    const int64_t elements = (nodes > 16 ? int64_t{1} : int64_t{8}) << 28;
    const int64_t part = elements / (8 * nodes);
    CHECK(reaches_95_percent(
        timed(fabric, {"all_gather", {{"tiled", true}}, {part}, "ring+ring", Dtype::F32})));
    CHECK(reaches_95_percent(timed(
        fabric, {"psum_scatter", {{"tiled", true}}, {part * 8 * nodes}, "ring+ring", Dtype::F32})));
    CHECK(reaches_95_percent(timed(fabric, {"psum", {}, {elements}, "ring+ring", Dtype::F32})));
  }
}

TEST_CASE("bounds: a tree takes as long as its NICs send, and the latencies of its longest way") {
  // With 64 nodes, six messages go up and six down, over two links each, and each NIC sends the
  // data twice. With eight ranks each, an eighth of the data, and seven messages more each way
  // through the node. In the time of one piece for each message, it is within 15 %.
  const auto psum = [](const Fabric& fabric, int64_t bytes) {
    return timed(fabric, {"psum", {}, {bytes / 4}, "tree", Dtype::F32});
  };
  constexpr int64_t kMiB = int64_t{1} << 20;
  const auto least = [](int64_t bytes, int64_t messages) {
    return at_50(2 * bytes) + Duration(2 * kUs) * messages;
  };
  const TimedCall one = psum(h100s(64, 1), 4 * kMiB);
  CHECK(one.takes >= least(4 * kMiB, 12));
  CHECK(one.takes.count() * 95 <= least(4 * kMiB, 12).count() * 100);
  const TimedCall eight = psum(h100s(64, 8), 4 * kMiB);
  CHECK(eight.takes >= least(4 * kMiB / 8, 12 + 14));
  CHECK(eight.takes.count() * 85 <= least(4 * kMiB / 8, 12 + 14).count() * 100);
  // The bound counts neither the latencies nor that a NIC sends the data twice, instead of
  // 2 (M - 1) / M times. So a tree may reach 95 % on two nodes, or on more than 20.
  CHECK(reaches_95_percent(psum(h100s(2, 1), 4 * kMiB)));
  CHECK(reaches_95_percent(psum(h100s(64, 1), 32 * kMiB)));
  CHECK(reaches_95_percent(psum(h100s(64, 2), 128 * kMiB)));
}

TEST_CASE("bounds: a broadcast on a torus uses all links of each device") {
  for (const std::vector<uint32_t>& sizes : {std::vector<uint32_t>{4, 4}, {4, 4, 4}, {8, 8, 8}}) {
    const LinkFigures link{BytesPerSecond(50 * kGBps), Duration(kUs)};
    std::vector<TorusDimension> dimensions;
    for (const uint32_t size : sizes)
      dimensions.push_back({size, true, link});
    const Fabric fabric(std::make_shared<const Torus>(dimensions));
    const int64_t bytes = int64_t{4} << 30;
    const TimedCall ran =
        timed(fabric, {"pbroadcast", {{"source", int64_t{3}}}, {bytes / 4}, {}, Dtype::F32});
    CHECK(ran.bound->least() >= at_50(bytes / static_cast<int64_t>(2 * sizes.size())));
    // A chain has up to 512 pieces, and the last of n ranks gets the first one n - 1 turns later.
    const int64_t turns = 512 + fabric.devices() - 2;
    CHECK(ran.takes.count() * 95 <= ran.bound->least().count() * 100 * turns / 512);
  }
}

TEST_CASE("bounds: rings of all ranks are bound by what they send over NICs") {
  // A ring sends n - 1 of n parts over each of its links, and nodes must get M - 1 of M parts. So
  // rings reach 95 % from 18 nodes of 8 on.
  for (const int64_t nodes : {2, 8, 20, 32}) {
    CAPTURE(nodes);
    if (test::is_sanitized() && nodes > 8)
      continue;
    const TimedCall ran = timed(h100s(static_cast<uint32_t>(nodes), 8),
                                {"psum", {}, {int64_t{1} << 30}, "ring", Dtype::F32});
    const int64_t n = 8 * nodes;
    const Duration sent = at_50(2 * (n - 1) * ((int64_t{4} << 30) / n) / 8);
    CHECK(ran.takes.count() * 95 <= sent.count() * 100);
    CHECK(reaches_95_percent(ran) == (nodes >= 20));
  }
}

}  // namespace
}  // namespace orrery::test
