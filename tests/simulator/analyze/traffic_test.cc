#include "simulator/analyze/traffic.h"

#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "simulator/algorithm/ring.h"
#include "simulator/analyze/device_times.h"
#include "tests/simulator/time/sketch.h"

namespace orrery::test {
namespace {

constexpr LinkFigures kLink = {BytesPerSecond(1'000'000'000), Duration(1'000'000)};

std::unique_ptr<const Schedule> all_reduce(uint32_t ranks, int64_t elements) {
  return std::make_unique<RingSchedule>(RingSchedule::Form::AllReduce, ranks, elements,
                                        Combine::Add, Transport{});
}

TEST_CASE("traffic: a ring all-reduce carries 2(n-1)/n of the buffer over each link that it uses") {
  Sketch sketch(4);
  sketch.sync(sketch.site(all_reduce(4, 4'000), 0, Dtype::F32));
  const Fabric fabric = ring_fabric(4, kLink);
  const Traffic found = traffic(sketch.lowered, fabric);
  CHECK(found.messages == std::vector<uint64_t>{24});  // 4 ranks, 6 steps
  int used = 0;
  for (size_t l = 0; l < found.links.size(); ++l) {
    const Link& link = fabric.link(LinkId(l));
    const bool onward = link.to.index() == (link.from.index() + 1) % 4;
    // 6 messages of 1,000 elements of 4 bytes.
    CHECK(found.links[l] == (onward ? Bytes(24'000) : Bytes()));
    used += onward ? 1 : 0;
  }
  CHECK(used == 4);
}

TEST_CASE("traffic: a message counts on every link of its way") {
  Sketch sketch(3);
  sketch.sync(sketch.site(flows(3, {{0, 2, 100}, {1, 2, 30}})));
  const Fabric line(3, {},
                    {{VertexId(0), VertexId(1), kLink.bandwidth, kLink.latency},
                     {VertexId(1), VertexId(2), kLink.bandwidth, kLink.latency}});
  const Traffic found = traffic(sketch.lowered, line);
  CHECK(found.links == std::vector<Bytes>{Bytes(100), Bytes(130)});
  CHECK(found.messages == std::vector<uint64_t>{2});
}

TEST_CASE("device times: what the streams of a device did") {
  // A psum of 2,000 bytes takes 4 us; 3 us of computation hide 3 of them. Then a sync one.
  Sketch sketch(2);
  const OpId started = sketch.start(sketch.site(all_reduce(2, 2'000), 1));
  sketch.local(3'000'000);
  sketch.done(started);
  sketch.sync(sketch.site(all_reduce(2, 2'000), 0));
  sketch.lowered.launch = Duration(500'000);
  const Fabric fabric = fully_connected_fabric(2, kLink);
  const Completion completion = run_time(sketch.program, sketch.lowered, fabric);
  const std::vector<DeviceTimes> times = device_times(sketch.program, sketch.lowered, completion);
  // Exposed: from 3 us to 0.5 + 4, and 0.5 + 4 of the sync one.
  const DeviceTimes expected{
      Duration(3'000'000),
      Duration(6'000'000),
      {{StreamId(0), Duration(4'000'000)}, {StreamId(1), Duration(4'000'000)}}};
  CHECK(times == std::vector<DeviceTimes>{expected, expected});
}

}  // namespace
}  // namespace orrery::test
