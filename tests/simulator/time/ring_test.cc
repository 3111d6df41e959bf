// Compares a ring all-reduce, by both executors, with its closed form.

#include "simulator/algorithm/ring.h"

#include <doctest/doctest.h>

#include "models/array/dtype.h"
#include "models/fabric/fabric.h"
#include "simulator/time/engine.h"
#include "simulator/time/sweep.h"
#include "tests/simulator/time/sketch.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

Sketch all_reduce(uint32_t devices, int64_t count, Dtype dtype) {
  Sketch sketch(devices);
  sketch.sync(sketch.site(std::make_unique<RingSchedule>(RingSchedule::Form::AllReduce, devices,
                                                         count, Combine::Add, Transport{}),
                          0, dtype));
  return sketch;
}

/// Returns the time of 2(n-1) messages, one after the other, which carry the first chunk, one of
/// the largest, around the ring.
Instant closed_form(int64_t devices, int64_t count, Dtype dtype) {
  const Bytes chunk = itemsize(dtype) * ceil_divide(count, devices);
  return Instant() +
         2 * (devices - 1) * (kUnevenLink.latency + transfer_time(chunk, kUnevenLink.bandwidth));
}

TEST_CASE("ring all-reduce: 2(n-1) (latency + transfer of the largest chunk), n from 2 to 64") {
  const uint32_t most = is_all_tried() ? 64 : 16;
  for (uint32_t n = 2; n <= most; ++n) {
    const Fabric fabric = ring_fabric(n, kUnevenLink);
    for (const int64_t count :
         {int64_t{0}, int64_t{1}, int64_t{n} - 1, int64_t{n}, int64_t{n} + 1, int64_t{1000},
          int64_t{12'345}, int64_t{1} << 20, 3 * int64_t{n} * 1'000'000 + 1}) {
      for (const Dtype dtype : {Dtype::U8, Dtype::BF16, Dtype::F32, Dtype::F64}) {
        CAPTURE(n);
        CAPTURE(count);
        const Sketch sketch = all_reduce(n, count, dtype);
        REQUIRE(!sweep_refusal(sketch.lowered, fabric));
        const auto swept = sweep(sketch.program, sketch.lowered, fabric);
        REQUIRE(std::get<Completion>(swept).makespan == closed_form(n, count, dtype));
        if (dtype == Dtype::BF16)
          REQUIRE(simulate(sketch.program, sketch.lowered, fabric).makespan ==
                  closed_form(n, count, dtype));
      }
    }
  }
}

TEST_CASE("ring all-reduce: 2(n-1) messages a node") {
  const Sketch sketch = all_reduce(7, 100, Dtype::F32);
  const Fabric fabric = ring_fabric(7, kUnevenLink);
  CHECK(simulate(sketch.program, sketch.lowered, fabric).messages == 7 * 12);
  CHECK(std::get<Completion>(sweep(sketch.program, sketch.lowered, fabric)).messages == 7 * 12);
}

}  // namespace
}  // namespace orrery::test
