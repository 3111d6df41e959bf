// Compares a broadcast along a chain, by both executors, with its closed forms.

#include "simulator/algorithm/chain.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "models/fabric/fabric.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/time/engine.h"
#include "simulator/time/sweep.h"
#include "tests/simulator/time/sketch.h"

namespace orrery::test {
namespace {

Duration transfer(int64_t bytes) {
  return transfer_time(Bytes(bytes), kUnevenLink.bandwidth);
}

/// Returns a broadcast of u8 over all devices, from device 1, cut to messages of `slot` bytes.
Sketch broadcast(uint32_t devices, int64_t bytes, int64_t slot, Transport transport = {}) {
  Sketch sketch(devices);
  sketch.sync(
      sketch.site(cut(std::make_unique<ChainSchedule>(devices, bytes, Node(1), transport), slot)));
  return sketch;
}

/// Returns the makespan for n ranks and m pieces of one size, of which the last may be smaller. The
/// last piece leaves the source after the m-1 others. At each rank but the last of the chain, it
/// waits for the whole piece before it. So it takes (m-1) + (n-2) transfers of a whole piece, and
/// its own.
Instant closed_form(int64_t ranks, int64_t bytes, int64_t slot) {
  const int64_t pieces = std::max<int64_t>(1, ceil_divide(bytes, slot));
  const int64_t last = bytes - (pieces - 1) * slot;
  return Instant() + transfer(std::min(bytes, slot)) * (pieces - 1 + ranks - 2) + transfer(last) +
         kUnevenLink.latency * (ranks - 1);
}

void check_both(const Sketch& sketch, const Fabric& fabric, Instant expected) {
  REQUIRE(!sweep_refusal(sketch.lowered, fabric));
  const auto swept = sweep(sketch.program, sketch.lowered, fabric);
  REQUIRE(std::get<Completion>(swept).makespan == expected);
  REQUIRE(simulate(sketch.program, sketch.lowered, fabric).makespan == expected);
}

TEST_CASE("chain: uncut, (n-1) (latency + transfer), n from 2 to 64") {
  for (uint32_t n = 2; n <= 64; ++n) {
    const Fabric fabric = ring_fabric(n, kUnevenLink);
    for (const int64_t bytes : {0, 1, 1'000, 12'345, 3'000'001}) {
      CAPTURE(n);
      CAPTURE(bytes);
      const Instant expected =
          Instant() + (kUnevenLink.latency + transfer(bytes)) * (int64_t{n} - 1);
      REQUIRE(closed_form(n, bytes, 3'000'001) == expected);
      check_both(broadcast(n, bytes, 3'000'001), fabric, expected);
    }
  }
}

TEST_CASE("chain: cut to pieces, a rank sends on one piece while it receives the next") {
  constexpr int64_t kSlot = 100'000;
  // With two slots no message waits for a slot: a slot is free again after the latency.
  REQUIRE(kUnevenLink.latency < transfer(kSlot));
  for (const uint32_t n : {2U, 3U, 4U, 7U, 16U, 64U}) {
    const Fabric fabric = ring_fabric(n, kUnevenLink);
    for (const int64_t bytes :
         {kSlot - 1, kSlot, kSlot + 1, 2 * kSlot, 3 * kSlot - 7, 50 * kSlot, 50 * kSlot + 12'345}) {
      CAPTURE(n);
      CAPTURE(bytes);
      check_both(broadcast(n, bytes, kSlot), fabric, closed_form(n, bytes, kSlot));
    }
  }
}

TEST_CASE("chain: with one slot, a piece is sent when the one before it has arrived") {
  // Each piece takes a transfer and a latency on each link.
  constexpr int64_t kSlot = 1'000;
  Transport transport;
  transport.slots = 1;
  for (const int64_t n : {2, 3, 8}) {
    CAPTURE(n);
    const auto devices = static_cast<uint32_t>(n);
    check_both(broadcast(devices, 20 * kSlot, kSlot, transport), ring_fabric(devices, kUnevenLink),
               Instant() + (transfer(kSlot) + kUnevenLink.latency) * (20 + n - 2));
  }
}

TEST_CASE("chain: channels share the links, each with its part") {
  // There are three channels of 50 pieces each, each at a third of the rate.
  constexpr int64_t kSlot = 100'000;
  Transport transport;
  transport.channels = 3;
  for (const uint32_t n : {2U, 5U, 8U}) {
    CAPTURE(n);
    const Sketch sketch = broadcast(n, 3 * 50 * kSlot, kSlot, transport);
    CHECK(simulate(sketch.program, sketch.lowered, ring_fabric(n, kUnevenLink)).makespan ==
          closed_form(n, 3 * 50 * kSlot, 3 * kSlot));
  }
}

TEST_CASE("chain: a rank that enters late holds up those behind it, and not those before") {
  // The chain is 1, 2, 3, 0. With slots for all pieces, the ranks before rank 3 do not wait for it.
  constexpr int64_t kSlot = 100'000;
  Transport transport;
  transport.slots = 5;
  const Sketch sketch = broadcast(4, 5 * kSlot, kSlot, transport);
  SweepOptions options;
  options.device_start.assign(4, Instant());
  options.device_start[3] = Instant(1'000'000'000);
  const auto swept = sweep(sketch.program, sketch.lowered, ring_fabric(4, kUnevenLink), options);
  const std::span<const OpSpan> spans = std::get<Completion>(swept).spans[0];
  CHECK(spans[1].end == Instant() + transfer(kSlot) * 5);
  CHECK(spans[2].end == Instant() + transfer(kSlot) * 6 + kUnevenLink.latency);
  CHECK(spans[3].end == Instant(1'000'000'000) + transfer(kSlot) * 5);
  CHECK(spans[0].end == Instant(1'000'000'000) + transfer(kSlot) * 5 + kUnevenLink.latency);
}

}  // namespace
}  // namespace orrery::test
