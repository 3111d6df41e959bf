// Tests the instants that the executors record of each half. Also compares sweep and engine here.

#include <algorithm>
#include <tuple>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "simulator/algorithm/ring.h"
#include "simulator/event/event_log.h"
#include "simulator/time/engine.h"
#include "simulator/time/sweep.h"
#include "tests/simulator/time/random_sketch.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

/// Returns everything that `run` records, by collective, step and half.
template <class Run>
std::vector<HalfEvent> recorded(Run&& run) {
  std::vector<HalfEvent> all;
  EventLog log([&](std::span<const HalfEvent> events) {
    all.insert(all.end(), events.begin(), events.end());
  });
  run(log);
  log.flush();
  std::sort(all.begin(), all.end(), [](const HalfEvent& a, const HalfEvent& b) {
    return std::tie(a.collective, a.step, a.half) < std::tie(b.collective, b.step, b.half);
  });
  return all;
}

std::vector<HalfEvent> swept(const RandomSketch& program) {
  return recorded([&](EventLog& log) {
    SweepOptions options;
    options.device_start = program.device_start;
    options.log = &log;
    sweep(program.sketch.program, program.sketch.lowered, program.fabric, options);
  });
}

std::vector<HalfEvent> simulated(const RandomSketch& program) {
  return recorded([&](EventLog& log) {
    EngineOptions options;
    options.device_start = program.device_start;
    options.log = &log;
    simulate(program.sketch.program, program.sketch.lowered, program.fabric, options);
  });
}

TEST_CASE("recording: sweep and engine record the same of 300 random programs") {
  Random random(7);
  uint64_t compared = 0;
  size_t halves = 0;
  while (compared < tries(300)) {
    const RandomSketch program = random_sketch(random, {random.below(2) == 0});
    const Sketch& sketch = program.sketch;
    if (sweep_refusal(sketch.lowered, program.fabric) || !ends(sketch) ||
        std::holds_alternative<std::string>(
            sweep(sketch.program, sketch.lowered, program.fabric, {program.device_start})))
      continue;
    CAPTURE(compared);
    const std::vector<HalfEvent> events = swept(program);
    REQUIRE(events == simulated(program));
    halves += events.size();
    ++compared;
  }
  CHECK(halves > tries(10'000));
}

TEST_CASE("recording: a message, its reduction and its way") {
  // The two devices have 1 GB/s and 1 us each way. The ring all-reduce is of 2,000 bytes in two
  // halves of 1,000, reduced at 0.5 GB/s. Step 0 sends from 0 to 1 us, and its message arrives at 2
  // us. Step 1 receives the message, reduces until 4 us, and sends the sum until 5 us.
  const Fabric fabric =
      fully_connected_fabric(2, {BytesPerSecond(1'000'000'000), Duration(1'000'000)});
  Sketch sketch(2);
  sketch.sync(sketch.site(std::make_unique<RingSchedule>(RingSchedule::Form::AllReduce, 2, 2'000,
                                                         Combine::Add, Transport{})));
  sketch.reduce_rate(BytesPerSecond(500'000'000));
  const std::vector<HalfEvent> events = recorded([&](EventLog& log) {
    SweepOptions options;
    options.log = &log;
    sweep(sketch.program, sketch.lowered, fabric, options);
  });
  const auto at = [](int64_t picoseconds) { return Instant(picoseconds); };
  const auto step = [](uint32_t index) { return StepRef{Node(0), Channel(0), index}; };
  REQUIRE(events.size() >= 4);
  CHECK(events[1] ==
        HalfEvent{CollectiveId(0), step(0), Half::Send, at(0), at(1'000'000), at(2'000'000)});
  CHECK(events[2] == HalfEvent{CollectiveId(0), step(1), Half::Receive, at(2'000'000),
                               at(4'000'000), at(4'000'000)});
  CHECK(events[3] == HalfEvent{CollectiveId(0), step(1), Half::Send, at(4'000'000), at(5'000'000),
                               at(6'000'000)});
}

TEST_CASE("recording: a second run with an event log has the same times, by both executors") {
  Random random(8);
  int by_sweep = 0;
  int by_engine = 0;
  while (by_sweep < 10 || by_engine < 10) {
    const RandomSketch program = random_sketch(random, {});
    const Sketch& sketch = program.sketch;
    if (!ends(sketch))
      continue;
    const Completion completion = run_time(sketch.program, sketch.lowered, program.fabric);
    Instant last;
    const std::vector<HalfEvent> events = recorded([&](EventLog& log) {
      record(sketch.program, sketch.lowered, program.fabric, completion, log);
    });
    uint64_t sent = 0;
    for (const HalfEvent& event : events) {
      const Schedule& schedule = *sketch.lowered.collective(event.collective).schedule;
      sent += event.half == Half::Send && schedule.step(event.step).to ? 1 : 0;
      last = std::max(last, event.end);
    }
    CHECK(sent == completion.messages);
    CHECK(last <= completion.makespan);
    (completion.by == TimedBy::Sweep ? by_sweep : by_engine) += 1;
  }
}

}  // namespace
}  // namespace orrery::test
