// Tests slack by hand, and on random programs by making ops longer.

#include "simulator/analyze/slack.h"

#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "simulator/algorithm/ring.h"
#include "simulator/analyze/critical_path.h"
#include "simulator/time/engine.h"
#include "simulator/time/sweep.h"
#include "tests/simulator/time/random_sketch.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

/// Adds a ring psum of 2,000 bytes over two devices. It takes two hops of 1 us + 1,000 B at 1 GB/s,
/// which is 4 us.
SiteId psum(Sketch& sketch, uint32_t stream = 0) {
  return sketch.site(std::make_unique<RingSchedule>(RingSchedule::Form::AllReduce, 2, 2'000,
                                                    Combine::Add, Transport{}),
                     stream);
}

struct Swept {
  Completion completion;
  std::vector<std::optional<Duration>> slacks;
};

/// Returns the result of the sweep; empty if the sweep cannot time the program.
std::optional<Swept> swept(const Sketch& sketch, const Fabric& on,
                           const std::vector<Instant>& device_start = {}) {
  std::variant<Completion, std::string> result;
  History history;
  record_into(history, [&](EventLog& log) {
    SweepOptions options;
    options.device_start = device_start;
    options.log = &log;
    result = sweep(sketch.program, sketch.lowered, on, options);
  });
  if (std::holds_alternative<std::string>(result))
    return std::nullopt;
  const Completion& completion = std::get<Completion>(result);
  return Swept{completion, slacks(sketch.program, sketch.lowered, completion, history)};
}

Duration slack(const Sketch& sketch, OpId op) {
  return *swept(sketch, gigabyte_fabric(sketch.program.mesh.devices()))->slacks[op.index()];
}

TEST_CASE("slack: none on the critical path") {
  Sketch sketch(2);
  const OpId before = sketch.local(1'000'000);
  const OpId reduced = sketch.sync(psum(sketch));
  const OpId after = sketch.local(2'000'000);
  CHECK(slack(sketch, before) == Duration());
  CHECK(slack(sketch, reduced) == Duration());
  CHECK(slack(sketch, after) == Duration());
}

TEST_CASE("slack: a hidden collective may take as long as the computation that hides it") {
  Sketch sketch(2);
  const OpId started = sketch.start(psum(sketch));
  const OpId computed = sketch.local(10'000'000);
  const OpId done = sketch.done(started);
  CHECK(slack(sketch, started) == Duration(6'000'000));  // 4 us, done at 10 us
  CHECK(slack(sketch, computed) == Duration());
  CHECK(slack(sketch, done) == Duration());
}

TEST_CASE("slack: computation behind an exposed collective may take as long as the collective") {
  Sketch sketch(2);
  const OpId started = sketch.start(psum(sketch));
  const OpId computed = sketch.local(3'000'000);
  sketch.done(started);
  CHECK(slack(sketch, started) == Duration());
  CHECK(slack(sketch, computed) == Duration(1'000'000));
}

TEST_CASE("slack: a device may enter until its messages are needed") {
  // Device 1 enters at 5 us. Its first message arrives at 7 us, and device 0 sends its answer until
  // 8 us. Device 1 has the answer at 9 us, which is the end. Device 1 sends its own answer from 6
  // to 7 us. From 7 to 8 us would be in time, since device 0's last step would receive it 1 us
  // later. That answer needs device 0's first message, which takes 2 us. So device 0 may enter at 5
  // us.
  Sketch sketch(2);
  sketch.thread({0});
  sketch.thread({1});
  const SiteId site = psum(sketch);
  sketch.back_to_thread(0);
  const OpId early = sketch.local(0);
  sketch.sync(site);
  sketch.back_to_thread(1);
  const OpId late = sketch.local(5'000'000);
  sketch.sync(site);
  CHECK(slack(sketch, late) == Duration());
  CHECK(slack(sketch, early) == Duration(5'000'000));
}

TEST_CASE("slack: the engine's history, where messages are sent before the last device enters") {
  // This is the same case, but device 1 first does a sum with device 2, until 4 us. The engine
  // notes device 0's first message before device 1 enters.
  Sketch sketch(3);
  sketch.thread({0});
  sketch.thread({1});
  sketch.thread({2});
  const auto pair = [&](uint32_t first, uint32_t second) {
    return sketch.site({{first, second}},
                       std::make_unique<RingSchedule>(RingSchedule::Form::AllReduce, 2, 2'000,
                                                      Combine::Add, Transport{}));
  };
  const SiteId site = pair(0, 1);
  const SiteId before = pair(1, 2);
  sketch.back_to_thread(0);
  const OpId early = sketch.local(0);
  sketch.sync(site);
  sketch.back_to_thread(1);
  const OpId late = sketch.sync(before);
  sketch.sync(site);
  sketch.back_to_thread(2);
  sketch.sync(before);
  Completion completion;
  History history;
  record_into(history, [&](EventLog& log) {
    EngineOptions options;
    options.log = &log;
    completion = simulate(sketch.program, sketch.lowered, gigabyte_fabric(3), options);
  });
  CHECK(completion.makespan == Instant(8'000'000));
  const auto found = slacks(sketch.program, sketch.lowered, completion, history);
  CHECK(found[late.index()] == Duration());
  CHECK(found[early.index()] == Duration(4'000'000));
}

TEST_CASE("slack: an op that ends before the program may last to the makespan") {
  Sketch sketch(2);
  sketch.thread({0});
  sketch.thread({1});
  sketch.back_to_thread(0);
  const OpId brief = sketch.local(1'000'000);
  sketch.back_to_thread(1);
  sketch.local(7'000'000);
  CHECK(slack(sketch, brief) == Duration(6'000'000));
}

/// Returns the makespan when `op` lasts `more` longer.
Instant makespan_with(Sketch& sketch, const RandomSketch& program, OpId op, Duration more) {
  Duration& lasts = sketch.lowered.local[op.index()].common;
  lasts += more;
  const auto result = sweep(sketch.program, sketch.lowered, program.fabric, {program.device_start});
  lasts -= more;
  return std::get<Completion>(result).makespan;
}

TEST_CASE(
    "slack: a local op may last that much longer and no picosecond more, and ops on the path have "
    "none, 300 random programs") {
  Random random(11);
  uint64_t ops = 0;
  uint64_t with_slack = 0;
  uint64_t on_path = 0;
  for (uint64_t programs = 0; programs < tries(300);) {
    RandomSketch program = random_sketch(random, {random.below(2) == 0});
    Sketch& sketch = program.sketch;
    if (sweep_refusal(sketch.lowered, program.fabric) || !ends(sketch))
      continue;
    const std::optional<Swept> found = swept(sketch, program.fabric, program.device_start);
    if (!found)
      continue;
    ++programs;
    const auto path = critical_path(sketch.program, sketch.lowered, found->completion).value();
    for (const PathEntry& entry : path) {
      CAPTURE(programs);
      REQUIRE(*found->slacks[entry.op.index()] == Duration());
      ++on_path;
    }
    for (uint32_t o = 0; o < sketch.program.ops.size(); ++o) {
      const OpId op(o);
      if (sketch.program.op(op).kind != OpKind::Compute)
        continue;
      CAPTURE(programs);
      const Duration slack = *found->slacks[o];
      const Instant makespan = found->completion.makespan;
      REQUIRE(makespan_with(sketch, program, op, slack) == makespan);
      REQUIRE(makespan_with(sketch, program, op, slack + Duration(1)) == makespan + Duration(1));
      ++ops;
      with_slack += slack > Duration() ? 1 : 0;
    }
  }
  if (is_all_tried()) {
    CHECK(ops > tries(300));
    CHECK(on_path > tries(300));
  }
  CHECK(with_slack > ops / 20);
}

}  // namespace
}  // namespace orrery::test
