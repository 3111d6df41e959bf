// Compares halving and doubling, by both executors, with their closed forms.

#include "simulator/algorithm/halving_doubling.h"

#include <bit>

#include <doctest/doctest.h>

#include "models/fabric/fabric.h"
#include "simulator/time/engine.h"
#include "simulator/time/sweep.h"
#include "tests/simulator/time/sketch.h"

namespace orrery::test {
namespace {

/// Returns a collective of u8 over all devices, which reduces or gathers `count` elements.
Sketch halving_or_doubling(HalvingDoublingSchedule::Form form, uint32_t devices, int64_t count,
                           Transport transport = {}) {
  Sketch sketch(devices);
  const Combine combine =
      form == HalvingDoublingSchedule::Form::AllGather ? Combine::None : Combine::Add;
  sketch.sync(sketch.site(
      std::make_unique<HalvingDoublingSchedule>(form, devices, count, combine, transport)));
  return sketch;
}

Duration message_time(int64_t bytes, int64_t links) {
  return transfer_time(Bytes(bytes), kUnevenLink.bandwidth) + kUnevenLink.latency * links;
}

/// Returns the time of the rounds of p ranks one after another. The messages have count / 2,
/// count / 4, ... bytes, down to count / p.
Duration rounds_of(int64_t p, int64_t count, int64_t links) {
  Duration all;
  for (int64_t parts = 2; parts <= p; parts *= 2)
    all += message_time(count / parts, links);
  return all;
}

void check_rounds(const Sketch& sketch, const Fabric& fabric, Instant expected) {
  REQUIRE(!sweep_refusal(sketch.lowered, fabric));
  const auto swept = sweep(sketch.program, sketch.lowered, fabric);
  REQUIRE(std::get<Completion>(swept).makespan == expected);
  REQUIRE(simulate(sketch.program, sketch.lowered, fabric).makespan == expected);
}

TEST_CASE(
    "halving or doubling: of a power of two, log2 n rounds, each of half or twice the bytes") {
  for (uint32_t n = 2; n <= 64; n *= 2)
    for (const int64_t part : {0, 1, 12'345}) {
      CAPTURE(n);
      CAPTURE(part);
      const int64_t count = n * part;
      for (const HalvingDoublingSchedule::Form form :
           {HalvingDoublingSchedule::Form::AllGather,
            HalvingDoublingSchedule::Form::ReduceScatter}) {
        const Sketch sketch = halving_or_doubling(form, n, count);
        check_rounds(sketch, fully_connected_fabric(n, kUnevenLink),
                     Instant() + rounds_of(n, count, 1));
        CHECK(simulate(sketch.program, sketch.lowered, switch_fabric(n, kUnevenLink)).makespan ==
              Instant() + rounds_of(n, count, 2));
      }
    }
}

TEST_CASE("halving or doubling: of 3 ranks, the middle one is folded into the first") {
  using Form = HalvingDoublingSchedule::Form;
  for (const int64_t part : {0, 1, 12'345}) {
    CAPTURE(part);
    const auto transfer = [&](int64_t parts) { return message_time(parts * part, 0); };
    const Duration latency = kUnevenLink.latency;
    const Fabric mesh = fully_connected_fabric(3, kUnevenLink);
    // Rank 1 sends all 3 parts to rank 0, which then sends a part to rank 2 and a part back. Rank 2
    // has sent its two parts meanwhile.
    check_rounds(halving_or_doubling(Form::ReduceScatter, 3, 3 * part), mesh,
                 Instant() + transfer(3) + latency + transfer(1) * 2 + latency);
    // Rank 1 sends its part to rank 0, which then sends 2 parts to rank 2 and all 3 back.
    check_rounds(halving_or_doubling(Form::AllGather, 3, 3 * part), mesh,
                 Instant() + transfer(1) + latency + transfer(2) + transfer(3) + latency);
  }
}

TEST_CASE("halving, then doubling: twice the rounds, n from 2 to 64, and the fold of other sizes") {
  for (uint32_t n = 2; n <= 64; ++n)
    for (const int64_t part : {0, 1, 12'345}) {
      CAPTURE(n);
      CAPTURE(part);
      const uint32_t core = std::bit_floor(n);
      const int64_t count = core * part;
      Duration expected = rounds_of(core, count, 1) * 2;
      // A folded rank hands over its whole input, and gets the whole result.
      if (core < n)
        expected += message_time(count, 1) * 2;
      check_rounds(halving_or_doubling(HalvingDoublingSchedule::Form::AllReduce, n, count),
                   fully_connected_fabric(n, kUnevenLink), Instant() + expected);
    }
}

TEST_CASE("halving, then doubling: pieces of a message follow each other on its link") {
  // A piece takes longer than the latency, so a slot is free again before the piece after the next
  // is sent.
  constexpr int64_t kPiece = 100'000;
  Transport transport;
  transport.largest = kPiece;
  REQUIRE(kUnevenLink.latency < message_time(kPiece, 0));
  for (uint32_t n = 2; n <= 16; n *= 2) {
    CAPTURE(n);
    Duration expected;
    for (int64_t parts = 2; parts <= n; parts *= 2)
      expected += (message_time(kPiece, 0) * (16 / parts) + kUnevenLink.latency) * 2;
    check_rounds(
        halving_or_doubling(HalvingDoublingSchedule::Form::AllReduce, n, 16 * kPiece, transport),
        fully_connected_fabric(n, kUnevenLink), Instant() + expected);
  }
}

}  // namespace
}  // namespace orrery::test
