// Compares Bruck's algorithms, by both executors, with their closed forms.

#include "simulator/algorithm/bruck.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "models/fabric/fabric.h"
#include "simulator/time/engine.h"
#include "simulator/time/sweep.h"
#include "tests/simulator/time/sketch.h"

namespace orrery::test {
namespace {

/// Returns the time of rounds with messages of so many parts of `part` bytes, over so many links.
Duration bruck_rounds(const std::vector<int64_t>& parts, int64_t part, int64_t links) {
  Duration all;
  for (const int64_t count : parts)
    all += transfer_time(Bytes(count * part), kUnevenLink.bandwidth) + kUnevenLink.latency * links;
  return all;
}

void check_bruck(BruckSchedule::Form form, uint32_t n, const std::vector<int64_t>& parts) {
  for (const int64_t part : {0, 1, 12'345}) {
    CAPTURE(n);
    CAPTURE(part);
    Sketch sketch(n);
    sketch.sync(sketch.site(std::make_unique<BruckSchedule>(form, n, part, Transport{})));
    const Fabric mesh = fully_connected_fabric(n, kUnevenLink);
    const Instant expected = Instant() + bruck_rounds(parts, part, 1);
    REQUIRE(!sweep_refusal(sketch.lowered, mesh));
    const auto swept = sweep(sketch.program, sketch.lowered, mesh);
    CHECK(std::get<Completion>(swept).makespan == expected);
    CHECK(simulate(sketch.program, sketch.lowered, mesh).makespan == expected);
    CHECK(simulate(sketch.program, sketch.lowered, switch_fabric(n, kUnevenLink)).makespan ==
          Instant() + bruck_rounds(parts, part, 2));
  }
}

TEST_CASE("bruck all-gather: messages of 1, 2, 4, ... parts and the rest, n from 2 to 64") {
  for (uint32_t n = 2; n <= 64; ++n) {
    std::vector<int64_t> parts;
    for (int64_t held = 1; held < n; held *= 2)
      parts.push_back(std::min(held, n - held));
    check_bruck(BruckSchedule::Form::AllGather, n, parts);
  }
}

TEST_CASE("bruck all-to-all: each round has the parts whose distance has its bit, n from 2 to 64") {
  for (uint32_t n = 2; n <= 64; ++n) {
    std::vector<int64_t> parts;
    for (uint32_t bit = 1; bit < n; bit *= 2) {
      parts.push_back(0);
      for (uint32_t distance = 1; distance < n; ++distance)
        parts.back() += (distance & bit) != 0 ? 1 : 0;
    }
    check_bruck(BruckSchedule::Form::AllToAll, n, parts);
  }
}

}  // namespace
}  // namespace orrery::test
