// Tests that sweep and engine agree on imported schedules too, where fused steps are atomic and
// messages are cut.

#include <variant>

#include <doctest/doctest.h>

#include "simulator/lower/lower.h"
#include "simulator/time/completion.h"
#include "simulator/time/engine.h"
#include "tests/support/property.h"
#include "tests/tools/import/xml.h"
#include "tools/import/chunk_definition.h"
#include "tools/import/msccl_schedule.h"

namespace orrery::test {
namespace {

TEST_CASE("imported times: sweep and engine agree to the picosecond") {
  holds_for_all("random ring all-gathers", [] {
    const int gpus = in_range(2, 5);
    const int own = in_range(1, 4);
    const auto more_slots = static_cast<uint32_t>(in_range(1, 3));
    const auto chunk = in_range<int64_t>(1, 200);
    const auto stretch = in_range<int64_t>(20, 200);
    const auto latency = in_range<int64_t>(0, 100'000);
    const MscclAlgorithm algorithm = read_msccl(ring_gather(gpus, own).text(), "a.xml");
    const Fabric fabric = ring_fabric(static_cast<uint32_t>(gpus),
                                      {BytesPerSecond(1'000'000'000), Duration(latency)});
    DeviceFigures device;
    device.copy_rate = BytesPerSecond(3'000'000'000);
    const Program program = program_of(algorithm, chunk);
    const Lowered lowered = lower_with(
        in_elements(
            areas_of(algorithm, MscclPlacement::OutOfPlace,
                     static_cast<uint32_t>(own) + more_slots),
            cut_steps(placed_steps(algorithm, MscclPlacement::OutOfPlace), algorithm.messages, 1),
            chunk, stretch),
        "ring", program, device);
    const Completion by_engine = simulate(program, lowered, fabric);
    const Completion chosen = run_time(program, lowered, fabric);
    RC_ASSERT(chosen.by == TimedBy::Sweep);
    RC_ASSERT(chosen.makespan == by_engine.makespan);
    RC_ASSERT(chosen.spans == by_engine.spans);
    RC_ASSERT(chosen.digest == by_engine.digest);
  });
}

}  // namespace
}  // namespace orrery::test
