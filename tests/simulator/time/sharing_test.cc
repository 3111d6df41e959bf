// Tests flows that share links in the event engine, against times worked out by hand.

#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "models/fabric/fabric.h"
#include "models/program/op.h"
#include "simulator/time/engine.h"
#include "tests/simulator/time/sketch.h"

namespace orrery::test {
namespace {

constexpr BytesPerSecond k50GBps(50'000'000'000);

/// Returns when each node's part in the program's only collective ended, in microseconds.
std::vector<int64_t> ends_us(const Completion& completion) {
  std::vector<int64_t> result;
  for (const OpSpan& span : completion.spans[0]) {
    CHECK(span.end.picoseconds() % 1'000'000 == 0);
    result.push_back(span.end.picoseconds() / 1'000'000);
  }
  return result;
}

TEST_CASE("three flows of 1, 2 and 3 MB on one 50 GB/s link end at 60, 100 and 120 us") {
  // All flows have a third of the link until the first has sent 1 MB: 1 MB / (50/3 GB/s) = 60 us.
  // The others have 1 and 2 MB left at half the rate: 1 MB / 25 GB/s = 40 us more. The last has 1
  // MB left, alone: 20 us more. The shared link is the one into device 3; each uplink of the switch
  // has one flow.
  const Fabric fabric = switch_fabric(4, {k50GBps, Duration(0)});
  Sketch sketch(4);
  sketch.sync(sketch.site(flows(4, {{0, 3, 1'000'000}, {1, 3, 2'000'000}, {2, 3, 3'000'000}})));
  const Completion completion = simulate(sketch.program, sketch.lowered, fabric);
  CHECK(ends_us(completion) == std::vector<int64_t>{60, 100, 120, 120});
  CHECK(completion.messages == 3);
}

TEST_CASE("a message that sharing makes end beyond 2^63 ps: the error names its op") {
  // The link has 1 B/s. A flow of 8,000,000 B would end in time if it were alone. 100,000 s before
  // its end, 20 messages of 62,500 B join. These end after 21 * 62,500 s more, just in time. The
  // first flow ends after all of them, at 9,250,000 s; 2^63 ps are 9,223,372 s.
  const Fabric fabric(2, {}, {{VertexId(0), VertexId(1), BytesPerSecond(1), Duration(0)}});
  Sketch sketch(2);
  const OpId first = sketch.start(sketch.site(flows(2, {{0, 1, 8'000'000}})));
  sketch.local(7'900'000'000'000'000'000);
  sketch.sync(sketch.site(flows(2, std::vector<Flow>(20, {0, 1, 62'500})), 1));
  sketch.done(first);
  std::optional<OpId> beyond;
  try {
    simulate(sketch.program, sketch.lowered, fabric);
  } catch (const OpOverflow& overflow) {
    beyond = overflow.op();
  }
  CHECK(beyond == first);
}

/// X goes over links a and b, Y1 and Y2 over a, and Z over b. Link a is device 0 -> 1, and b is 1
/// -> 2.
std::vector<int64_t> chain(int64_t y_bytes) {
  const Fabric fabric(3, {},
                      {{VertexId(0), VertexId(1), k50GBps, Duration(0)},
                       {VertexId(1), VertexId(2), k50GBps, Duration(0)}});
  Sketch sketch(3);
  sketch.sync(sketch.site(
      flows(3, {{0, 2, 10'000'000}, {0, 1, y_bytes}, {0, 1, y_bytes}, {1, 2, 1'000'000}})));
  const Completion completion = simulate(sketch.program, sketch.lowered, fabric);
  // Device 1 ends with the last of the messages that it receives (Y1, Y2) and sends (Z).
  std::vector<int64_t> ends;
  for (const OpSpan& span : completion.spans[0])
    ends.push_back(span.end.picoseconds());
  return ends;
}

TEST_CASE("sharing is not monotone: less traffic on one link can delay a flow on another") {
  SUBCASE("with Y1 and Y2 of 10 MB, X gets a third of a, and Z two thirds of b") {
    // X, Y1 and Y2 have 50/3 GB/s for 600 us. Z has 100/3 GB/s: 1 MB in 30 us.
    const std::vector<int64_t> ends = chain(10'000'000);
    CHECK(ends[0] == 600'000'000);
    CHECK(ends[1] == 600'000'000);
    CHECK(ends[2] == 600'000'000);
  }
  SUBCASE("with Y1 and Y2 of one byte, X is alone on a and shares b with Z") {
    // Y1 and Y2 end after 60 ps at a third of a; until then Z has two thirds of b. Then X and Z
    // have 25 GB/s each. Z has sent 60 ps x 100/3 GB/s = 2 bytes. Its other 999,998 bytes take
    // 39,999,920 ps, so it ends at 39,999,980 ps. X has sent 1 byte and 999,998 more. Its other
    // 9,000,001 bytes at 50 GB/s take 180,000,020 ps, so it ends at 220,000,000 ps.
    const std::vector<int64_t> ends = chain(1);
    CHECK(ends[0] == 220'000'000);
    CHECK(ends[1] == 39'999'980);
    CHECK(ends[2] == 220'000'000);
  }
}

/// Returns the end of device 1, which is the end of Z, since device 1 sends Z. Y1 and Y2 go on past
/// link a to device 3, over a link of their own.
int64_t z_ends(int64_t y_bytes) {
  const Fabric fabric(4, {},
                      {{VertexId(0), VertexId(1), k50GBps, Duration(0)},
                       {VertexId(1), VertexId(2), k50GBps, Duration(0)},
                       {VertexId(1), VertexId(3), k50GBps, Duration(0)}});
  Sketch sketch(4);
  sketch.sync(sketch.site(
      flows(4, {{0, 2, 10'000'000}, {0, 3, y_bytes}, {0, 3, y_bytes}, {1, 2, 1'000'000}})));
  return simulate(sketch.program, sketch.lowered, fabric).spans[0][1].end.picoseconds();
}

TEST_CASE("sharing is not monotone: shrinking Y1 and Y2 delays Z from 30 to 40 us") {
  CHECK(z_ends(10'000'000) == 30'000'000);
  CHECK(z_ends(1) == 39'999'980);  // 20 ps under 40 us: as worked out above
}

TEST_CASE("a declared cap acts as a link of the flow's own") {
  // Caps of 10 GB/s leave the link partly idle: each 1 MB takes 100 us, although three flows share
  // 50 GB/s.
  const Fabric fabric = switch_fabric(4, {k50GBps, Duration(0)});
  Sketch sketch(4);
  CollectiveFigures capped;
  capped.messages.channel_rate = BytesPerSecond(10'000'000'000);
  sketch.figures(capped);
  sketch.sync(sketch.site(flows(4, {{0, 3, 1'000'000}, {1, 3, 1'000'000}, {2, 3, 1'000'000}})));
  CHECK(ends_us(simulate(sketch.program, sketch.lowered, fabric)) ==
        std::vector<int64_t>{100, 100, 100, 100});
}

TEST_CASE("messages of no bytes take the latency and no share") {
  // 1 MB alone at 50 GB/s takes 20 us, then 2 x 1 us of latency.
  const Fabric fabric = switch_fabric(3, {k50GBps, Duration(1'000'000)});
  Sketch sketch(3);
  sketch.sync(sketch.site(flows(3, {{0, 2, 1'000'000}, {1, 2, 0}})));
  const Completion completion = simulate(sketch.program, sketch.lowered, fabric);
  CHECK(ends_us(completion) == std::vector<int64_t>{20, 0, 22});
  CHECK(completion.messages == 2);
}

}  // namespace
}  // namespace orrery::test
