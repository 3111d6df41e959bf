#include "simulator/analyze/why.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/base/random.h"
#include "simulator/algorithm/ring.h"
#include "tests/simulator/time/random_sketch.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

/// Returns an all-reduce of 2,000 bytes over two devices. Twice, each device sends 1,000 bytes in 1
/// us, and they arrive 1 us later.
std::unique_ptr<const Schedule> all_reduce() {
  return std::make_unique<RingSchedule>(RingSchedule::Form::AllReduce, 2, 2'000, Combine::Add,
                                        Transport{});
}

/// Returns "send@1 5-6 entry, ...", in microseconds.
std::string text(const std::vector<Reason>& chain) {
  static constexpr std::array<const char*, 6> kWhat = {"compute", "enter",  "reduce",
                                                       "send",    "flight", "copy"};
  static constexpr std::array<const char*, 12> kAfter = {"beginning", "computed", "ended", "stream",
                                                         "launch",    "entry",    "peer",  "before",
                                                         "other",     "message",  "slot",  "sent"};
  std::string text;
  for (const Reason& reason : chain)
    text += fmt::format(
        "{}{}@{} {}-{} {}", text.empty() ? "" : ", ", kWhat[static_cast<size_t>(reason.what)],
        reason.place.index(), reason.begin.picoseconds() / 1'000'000,
        reason.end.picoseconds() / 1'000'000, kAfter[static_cast<size_t>(reason.because)]);
  return text;
}

std::string why_text(const Sketch& sketch, OpId op, uint32_t device) {
  const Fabric on = gigabyte_fabric(sketch.program.mesh.devices());
  const Completion completion = run_time(sketch.program, sketch.lowered, on);
  return text(why(sketch.program, sketch.lowered, on, completion, op, LogicalId(device)));
}

TEST_CASE("why: from the op through messages to the member that entered last, and down its list") {
  Sketch sketch(2);
  sketch.thread({0});
  sketch.thread({1});
  const SiteId site = sketch.site(all_reduce());
  sketch.back_to_thread(0);
  sketch.sync(site);
  sketch.back_to_thread(1);
  sketch.local(5'000'000);
  const OpId late = sketch.sync(site);
  CHECK(why_text(sketch, late, 1) ==
        "compute@1 0-5 beginning, enter@1 5-5 computed, send@1 5-6 entry, flight@1 6-7 sent, "
        "send@0 7-8 message, flight@0 8-9 sent");
}

TEST_CASE("why: a local op that takes no time is no reason") {
  Sketch sketch(2);
  sketch.local(2'000'000);
  sketch.local(0);
  const OpId last = sketch.local(3'000'000);
  CHECK(why_text(sketch, last, 0) == "compute@0 0-2 beginning, compute@0 2-5 computed");
}

TEST_CASE("why: a launch, and the cause of a wait on the compute stream") {
  Sketch sketch(2);
  sketch.launch(Duration(3'000'000));
  sketch.sync(sketch.site(all_reduce()));
  const OpId after = sketch.local(2'000'000);
  CHECK(why_text(sketch, after, 0) ==
        "enter@0 0-3 beginning, send@0 3-4 entry, flight@0 4-5 sent, send@1 5-6 message, "
        "flight@1 6-7 sent, compute@0 7-9 ended");
}

TEST_CASE(
    "why: the operand is packed after the launch, the result copied out after the last step") {
  Sketch sketch(2);
  sketch.launch(Duration(3'000'000));
  const OpId op = sketch.sync(sketch.site(all_reduce()));
  for (Collective& collective : sketch.lowered.collectives) {
    collective.pack = Duration(2'000'000);
    collective.leave = Duration(1'000'000);
  }
  CHECK(why_text(sketch, op, 0) ==
        "enter@0 0-3 beginning, copy@0 3-5 launch, send@0 5-6 entry, flight@0 6-7 sent, "
        "send@1 7-8 message, flight@1 8-9 sent, copy@0 9-10 message");
}

TEST_CASE("why: a collective that waits for the one before it on its stream") {
  Sketch sketch(2);
  sketch.start(sketch.site(all_reduce()));
  const OpId second = sketch.start(sketch.site(all_reduce()));
  CHECK(why_text(sketch, second, 0) ==
        "enter@0 0-0 beginning, send@0 0-1 entry, flight@0 1-2 sent, send@1 2-3 message, "
        "flight@1 3-4 sent, enter@0 4-4 stream, send@0 4-5 entry, flight@0 5-6 sent, "
        "send@1 6-7 message, flight@1 7-8 sent");
}

TEST_CASE("why: a reduction takes its time, and the next send waits for it") {
  Sketch sketch(2);
  sketch.reduce_rate(BytesPerSecond(500'000'000));  // 1,000 bytes in 2 us
  const OpId op = sketch.sync(sketch.site(all_reduce()));
  CHECK(why_text(sketch, op, 0) ==
        "enter@0 0-0 beginning, send@0 0-1 entry, flight@0 1-2 sent, reduce@1 2-4 message, "
        "send@1 4-5 before, flight@1 5-6 sent");
}

TEST_CASE("why: contiguous from 0 to the end of the op, of 200 random programs by both executors") {
  Random random(13);
  uint64_t by_sweep = 0;
  uint64_t by_engine = 0;
  for (uint64_t programs = 0; programs < tries(200);) {
    const RandomSketch program = random_sketch(random, {});
    const Sketch& sketch = program.sketch;
    if (!ends(sketch))
      continue;
    ++programs;
    const Completion completion = run_time(sketch.program, sketch.lowered, program.fabric);
    (completion.by == TimedBy::Sweep ? by_sweep : by_engine) += 1;
    for (const Thread& thread : sketch.program.threads) {
      for (const OpId op : thread.issue_order) {
        const std::vector<Reason> chain = why(sketch.program, sketch.lowered, program.fabric,
                                              completion, op, thread.devices.back());
        Instant at;
        for (const Reason& reason : chain) {
          REQUIRE(reason.begin == at);
          at = reason.end;
        }
        REQUIRE(at == completion.spans[op.index()].back().end);
      }
    }
  }
  CHECK(by_sweep > tries(20));
  CHECK(by_engine > tries(20));
}

}  // namespace
}  // namespace orrery::test
