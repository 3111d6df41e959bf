// Compares the double binary tree, by both executors, with its closed forms and bounds.

#include "simulator/algorithm/tree.h"

#include <doctest/doctest.h>

#include "models/fabric/fabric.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/time/engine.h"
#include "simulator/time/sweep.h"
#include "tests/simulator/time/sketch.h"

namespace orrery::test {
namespace {

Duration tree_transfer(int64_t bytes) {
  return transfer_time(Bytes(bytes), kUnevenLink.bandwidth);
}

TEST_CASE(
    "tree: uncut, 2^k - 1 ranks take k - 1 messages up, and down the second of two each time") {
  uint32_t swept = 0;
  for (const int64_t levels : {1, 2, 3, 4, 5, 6})
    for (const int64_t half : {0, 1, 12'345}) {
      CAPTURE(levels);
      CAPTURE(half);
      const auto n = static_cast<uint32_t>((1 << levels) - 1);
      Sketch sketch(n);
      sketch.sync(
          sketch.site(std::make_unique<TreeSchedule>(n, 2 * half, Combine::Add, 1, Transport{})));
      const Instant expected =
          Instant() + (tree_transfer(half) + kUnevenLink.latency) * (2 * (levels - 1));
      const Fabric mesh = fully_connected_fabric(n, kUnevenLink);
      CHECK(simulate(sketch.program, sketch.lowered, mesh).makespan == expected);
      // A link may have messages of both trees. The sweep refuses it, though they never meet.
      if (!sweep_refusal(sketch.lowered, mesh)) {
        ++swept;
        CHECK(std::get<Completion>(sweep(sketch.program, sketch.lowered, mesh)).makespan ==
              expected);
      }
    }
  CHECK(swept > 0);
}

TEST_CASE("tree: cut to many pieces, links are nearly always busy, n from 2 to 64") {
  // No time is below that of all bytes that a rank sends. An inner rank sends half of the data up,
  // and twice down, and the other half up: as much as in a ring.
  constexpr int64_t kPiece = 1'000'000;
  constexpr int64_t kBytes = 512 * kPiece;
  Transport transport;
  transport.slots = 8;
  for (const uint32_t n : {2U, 3U, 4U, 6U, 7U, 16U, 33U, 64U}) {
    CAPTURE(n);
    Sketch sketch(n);
    sketch.sync(sketch.site(
        cut(std::make_unique<TreeSchedule>(n, kBytes, Combine::Add, 1, transport), kPiece)));
    const Fabric star = switch_fabric(n, kUnevenLink);
    const Duration takes = simulate(sketch.program, sketch.lowered, star).makespan - Instant();
    const Schedule& tree = *sketch.lowered.schedules[0];
    int64_t most = 0;
    for (uint32_t rank = 0; rank < n; ++rank) {
      int64_t sent = 0;
      for (uint32_t c = 0; c < tree.extent().channels; ++c)
        tree.for_each_receiver(Node(rank), Channel(c),
                               [&](const Sent& each) { sent += each.elements; });
      most = std::max(most, sent);
    }
    CHECK(most == kBytes / 2 * (n == 2 ? 2 : n == 3 ? 3 : 4));
    const Duration least = tree_transfer(most);
    CHECK(takes >= least);
    CHECK(takes.count() <= least.count() / 100 * 102);
  }
}

}  // namespace
}  // namespace orrery::test
