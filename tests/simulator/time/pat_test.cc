// Compares PAT, by both executors, with its closed form.

#include "simulator/algorithm/pat.h"

#include <bit>

#include <doctest/doctest.h>

#include "models/fabric/fabric.h"
#include "simulator/time/engine.h"
#include "simulator/time/sweep.h"
#include "tests/simulator/time/sketch.h"

namespace orrery::test {
namespace {

TEST_CASE("pat: ceil(log2 n) latencies and n - 1 parts, n from 2 to 64") {
  // A byte takes 20 ps, and nothing is rounded, whether a round has one message or two.
  const LinkFigures exact{BytesPerSecond(50'000'000'000), Duration(700'001)};
  for (uint32_t n = 2; n <= 64; ++n)
    for (const int64_t part : {0, 1, 12'345})
      for (const Combine combine : {Combine::None, Combine::Add}) {
        CAPTURE(n);
        CAPTURE(part);
        Sketch sketch(n);
        sketch.sync(sketch.site(std::make_unique<PatSchedule>(n, part, combine, Transport{})));
        const auto rounds = static_cast<int64_t>(std::bit_width(n - 1));
        const Duration sent = transfer_time(Bytes((n - 1) * part), exact.bandwidth);
        const Instant expected = Instant() + exact.latency * rounds + sent;
        const Fabric mesh = fully_connected_fabric(n, exact);
        REQUIRE(!sweep_refusal(sketch.lowered, mesh));
        const auto swept = sweep(sketch.program, sketch.lowered, mesh);
        CHECK(std::get<Completion>(swept).makespan == expected);
        CHECK(simulate(sketch.program, sketch.lowered, mesh).makespan == expected);
        CHECK(simulate(sketch.program, sketch.lowered, switch_fabric(n, exact)).makespan ==
              expected + exact.latency * rounds);
      }
}

}  // namespace
}  // namespace orrery::test
