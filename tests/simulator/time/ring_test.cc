// Compares rings, by both executors, with their closed forms.

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

using Form = RingSchedule::Form;
using Ways = RingSchedule::Ways;

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

/// Returns a ring both ways of each form, in u8: an all-gather gathers `count` elements, and the
/// others reduce as many.
Sketch both_ways(Form form, uint32_t devices, int64_t count, uint32_t channels = 1) {
  Sketch sketch(devices);
  const Combine combine = form == Form::AllGather ? Combine::None : Combine::Add;
  sketch.sync(sketch.site(std::make_unique<RingSchedule>(form, devices, count, combine,
                                                         Transport{channels}, Ways::Both)));
  return sketch;
}

/// Returns the time of all messages of one channel, one after the other, of which each has so many
/// bytes.
Instant messages_of(Form form, int64_t devices, int64_t bytes) {
  const int64_t messages = (form == Form::AllReduce ? 2 : 1) * (devices - 1);
  return Instant() +
         messages * (kUnevenLink.latency + transfer_time(Bytes(bytes), kUnevenLink.bandwidth));
}

TEST_CASE("ring both ways: each hop takes the larger half of the largest chunk, n from 3 to 9") {
  for (const Form form : {Form::AllGather, Form::ReduceScatter, Form::AllReduce})
    for (uint32_t n = 3; n <= 9; ++n)
      for (const int64_t count : {int64_t{0}, int64_t{1}, int64_t{n}, 2 * int64_t{n} - 1,
                                  2 * int64_t{n}, 3 * int64_t{n} + 1, 1'000'000 * int64_t{n} + 1}) {
        CAPTURE(n);
        CAPTURE(count);
        const Fabric fabric = ring_fabric(n, kUnevenLink);
        const Sketch sketch = both_ways(form, n, count);
        const Instant end = messages_of(form, n, ceil_divide(ceil_divide(count, n), 2));
        REQUIRE(!sweep_refusal(sketch.lowered, fabric));
        CHECK(std::get<Completion>(sweep(sketch.program, sketch.lowered, fabric)).makespan == end);
        CHECK(simulate(sketch.program, sketch.lowered, fabric).makespan == end);
      }
}

TEST_CASE("ring both ways: all-gathers of 1 GB over 8 take 7/8 x 1 GB / (2 x 100 GB/s)") {
  const Fabric fabric = ring_fabric(8, {BytesPerSecond(100'000'000'000), Duration()});
  const Sketch sketch = both_ways(Form::AllGather, 8, 1'000'000'000);
  CHECK(std::get<Completion>(sweep(sketch.program, sketch.lowered, fabric)).makespan ==
        Instant(4'375'000'000));
}

TEST_CASE("ring both ways: between two devices both halves share one link, and nothing is gained") {
  // Each half gets half of the link's rate. So both take as long as a chunk takes alone.
  const LinkFigures link{BytesPerSecond(46'000'000'000), Duration(700'001)};
  for (const Form form : {Form::AllGather, Form::ReduceScatter, Form::AllReduce}) {
    const Sketch sketch = both_ways(form, 2, 2 * 46'000);  // halves of 23,000 B, 500 ns each
    const int64_t messages = form == Form::AllReduce ? 2 : 1;
    CHECK(simulate(sketch.program, sketch.lowered, ring_fabric(2, link)).makespan ==
          Instant(messages * (700'001 + 1'000'000)));
  }
}

TEST_CASE("ring both ways: behind a switch, both ways share the links, and nothing is gained") {
  // Each device sends its two halves over one link, 23,000 B at 23 GB/s each, and 2 latencies.
  const LinkFigures link{BytesPerSecond(46'000'000'000), Duration(700'001)};
  for (uint32_t n = 3; n <= 9; ++n) {
    CAPTURE(n);
    const Sketch sketch = both_ways(Form::AllGather, n, int64_t{n} * 46'000);
    CHECK(simulate(sketch.program, sketch.lowered, switch_fabric(n, link)).makespan ==
          Instant((n - 1) * (2 * 700'001 + 1'000'000)));
  }
}

TEST_CASE("ring both ways: several channels share the links of each way") {
  // Each chunk has 12 parts of 2,300 B, 6 for each way. A link of 46 GB/s carries 6 parts in 300
  // ns.
  const LinkFigures link{BytesPerSecond(46'000'000'000), Duration(700'001)};
  const Sketch sketch = both_ways(Form::AllGather, 5, int64_t{5} * 12 * 2'300, 6);
  CHECK(simulate(sketch.program, sketch.lowered, ring_fabric(5, link)).makespan ==
        Instant(4 * (700'001 + 300'000)));
}

}  // namespace
}  // namespace orrery::test
