#include "simulator/analyze/device_times.h"

#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "simulator/algorithm/ring.h"
#include "tests/simulator/time/sketch.h"

namespace orrery::test {
namespace {

constexpr LinkFigures kLink = {BytesPerSecond(1'000'000'000), Duration(1'000'000)};

std::unique_ptr<const Schedule> all_reduce(uint32_t ranks, int64_t elements) {
  return std::make_unique<RingSchedule>(RingSchedule::Form::AllReduce, ranks, elements,
                                        Combine::Add, Transport{});
}

TEST_CASE("device times: busy, exposed and hidden time of each stream") {
  // A psum of 2,000 bytes takes 4 us; a computation of 3 us hides 3 us of it. Then a sync psum
  // follows.
  Sketch sketch(2);
  const OpId started = sketch.start(sketch.site(all_reduce(2, 2'000), 1));
  sketch.local(3'000'000);
  sketch.done(started);
  sketch.sync(sketch.site(all_reduce(2, 2'000), 0));
  sketch.launch(Duration(500'000));
  const Fabric fabric = fully_connected_fabric(2, kLink);
  const Completion completion = run_time(sketch.program, sketch.lowered, fabric);
  const std::vector<DeviceTimes> times = device_times(sketch.program, sketch.lowered, completion);
  // Exposed are the time from 3 us to 0.5 + 4 us, and 0.5 + 4 us of the sync psum.
  const DeviceTimes expected{
      Duration(3'000'000),
      Duration(6'000'000),
      {{StreamId(0), Duration(4'000'000)}, {StreamId(1), Duration(4'000'000)}}};
  CHECK(times == std::vector<DeviceTimes>{expected, expected});
}

}  // namespace
}  // namespace orrery::test
