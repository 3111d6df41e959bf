// When iterations of a loop repeat in the event engine, and what its state has.

#include "simulator/time/loop_watch.h"

#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "simulator/time/engine.h"
#include "simulator/time/device_clocks.h"
#include "tests/simulator/time/sketch.h"

namespace orrery::test {
namespace {

/// A loop of iterations that a test writes out: all of them in one thread.
class Loops {
 public:
  explicit Loops(uint32_t devices) : sketch(devices) {}

  /// Adds what `body` adds to the sketch as the next iteration.
  template <class Body>
  void iteration(Body&& body) {
    LoopIteration next;
    next.ops.begin = static_cast<uint32_t>(sketch.program.ops.size());
    body();
    next.ops.end = static_cast<uint32_t>(sketch.program.ops.size());
    loop_.written.push_back(next);
  }

  std::optional<LoopIterations> find(size_t first = 0) {
    loop_.upper = static_cast<int64_t>(loop_.written.size());
    sketch.program.written_loops = {loop_};
    const ProgramLists lists(sketch.program, sketch.lowered);
    return LoopIterations::find(sketch.program, sketch.lowered, lists, std::vector<size_t>{0},
                                first);
  }

  Sketch sketch;

 private:
  WrittenLoop loop_;
};

/// Two messages of 1 MB each over one link of 50 GB/s: 40 us, and 5 us before.
void two_messages(Loops& loops, int64_t before = 5'000'000) {
  loops.iteration([&] {
    loops.sketch.local(before);
    loops.sketch.sync(loops.sketch.site(flows(3, {{0, 2, 1'000'000}, {1, 2, 1'000'000}})));
  });
}

TEST_CASE("loop watch: iterations with messages that share a link repeat") {
  constexpr BytesPerSecond k50GBps(50'000'000'000);
  const Fabric fabric = switch_fabric(3, {k50GBps, Duration(0)});
  for (const size_t iterations : {3U, 4U, 5U, 6U, 12U}) {
    Loops loops(3);
    loops.sketch.local(7);
    // Each has a schedule of its own, and so they are not alike.
    for (size_t i = 0; i < iterations; ++i)
      two_messages(loops);
    CHECK_FALSE(loops.find());
    for (Collective& collective : loops.sketch.lowered.collectives)
      collective.schedule = loops.sketch.lowered.schedules.front().get();
    std::optional<LoopIterations> alike = loops.find();
    REQUIRE(alike);
    CHECK(alike->count() == iterations);
    LoopWatch watch(std::move(*alike), 1);
    EngineOptions options;
    options.watches = {&watch};
    const Completion completion =
        simulate(loops.sketch.program, loops.sketch.lowered, fabric, options);
    CHECK(completion.makespan == Instant(7 + static_cast<int64_t>(iterations) * 45'000'000));
    // The states of three iterations have to be equal, before the last one.
    CHECK(watch.period().has_value() == (iterations >= 5));
    if (watch.period()) {
      CHECK(watch.period()->iterations == 1);
      CHECK(watch.period()->later == Duration(45'000'000));
    }
  }
}

struct NoHost {
  void passed(ListId /*list*/, uint32_t /*instruction*/) {}
  void entered(EnterRef /*entry*/) {}
};

TEST_CASE("loop watch: a state is due in each iteration, until a list is at the last ones") {
  Loops loops(2);
  for (int i = 0; i < 6; ++i)
    loops.iteration([&] { loops.sketch.sync(loops.sketch.site(flows(2, {{0, 1, 10}}))); });
  for (Collective& collective : loops.sketch.lowered.collectives)
    collective.schedule = loops.sketch.lowered.schedules.front().get();
  LoopWatch watch(loops.find().value(), 1);
  const ProgramLists lists(loops.sketch.program, loops.sketch.lowered);
  ListProgress progress(lists);
  NoHost host;
  progress.begin(host);
  CHECK_FALSE(watch.due(progress));
  // Device 0 goes on by itself. An iteration is two instructions: an Enter and its Wait.
  for (uint32_t iteration = 1; iteration < 5; ++iteration) {
    progress.end({ListId(0), 2 * (iteration - 1)}, host);
    CHECK(watch.due(progress));
    CHECK(watch.iteration() == iteration);
    CHECK_FALSE(watch.due(progress));
  }
  progress.end({ListId(0), 8}, host);
  CHECK_FALSE(watch.due(progress));
}

TEST_CASE("loop watch: a list that waits before an iteration's first instruction is in it") {
  Loops loops(2);
  OpId start = loops.sketch.start(loops.sketch.site(flows(2, {{0, 1, 10}})));
  for (int i = 0; i < 5; ++i)
    loops.iteration([&] {
      loops.sketch.done(start);
      start = loops.sketch.start(loops.sketch.site(flows(2, {{0, 1, 10}})));
    });
  for (Collective& collective : loops.sketch.lowered.collectives)
    collective.schedule = loops.sketch.lowered.schedules.front().get();
  LoopWatch watch(loops.find(1).value(), 1);  // iteration 0 waits for what is before the loop
  const ProgramLists lists(loops.sketch.program, loops.sketch.lowered);
  ListProgress progress(lists);
  NoHost host;
  progress.begin(host);
  progress.end({ListId(0), 0}, host);
  CHECK_FALSE(watch.due(progress));  // before iteration 1, the first that is looked at
  progress.end({ListId(0), 2}, host);
  CHECK(watch.due(progress));
  CHECK(watch.iteration() == 1);
}

TEST_CASE("loop watch: iterations that are not alike in all that times depend on") {
  Loops loops(2);
  std::vector<OpId> starts;
  for (size_t i = 0; i < 4; ++i)
    loops.iteration([&] {
      loops.sketch.local(5);
      starts.push_back(loops.sketch.start(loops.sketch.site(flows(2, {{0, 1, 10}}))));
      loops.sketch.done(starts[i == 0 ? 0 : i - 1]);
    });
  Lowered& lowered = loops.sketch.lowered;
  for (Collective& collective : lowered.collectives)
    collective.schedule = lowered.schedules.front().get();
  CHECK_FALSE(loops.find());  // iteration 0 waits for its own collective
  CHECK(loops.find(1));
  const auto differs = [&](auto& what, auto other) {
    std::swap(what, other);
    CHECK_FALSE(loops.find(1));
    std::swap(what, other);
    CHECK(loops.find(1));
  };
  differs(lowered.local[loops.sketch.program.threads[0].issue_order[6].index()].common,
          Duration(6));
  differs(lowered.collectives[2].pack, Duration(1));
  differs(lowered.collectives[2].leave, Duration(1));
  differs(lowered.collectives[2].schedule, lowered.schedules.back().get());
  differs(lowered.collectives[2].work, WorkType{Dtype::F32});
  differs(lowered.collectives[2].vertices,
          SharedList<VertexId>(std::vector<VertexId>{VertexId(1), VertexId(0)}));
}

/// The state of the tapes, once what can begin has, and each of `ended` has ended on device 0.
std::vector<uint64_t> state_of(const Sketch& sketch, const std::vector<size_t>& ended,
                               Instant now) {
  Tapes tapes(sketch.program, sketch.lowered, {}, nullptr);
  tapes.begin([](Entrance) {});
  for (const size_t c : ended)
    tapes.end(CollectiveId(c), Node(0), now, [](Entrance) {});
  const LoopIterations none;
  RelativeState state(none, 0, now);
  tapes.append_state(state);
  return state.words();
}

TEST_CASE("tapes: the state has the clock of a list that waits") {
  const auto state = [](int64_t computes, Instant now) {
    Sketch sketch(2);
    const OpId start = sketch.start(sketch.site(flows(2, {{0, 1, 10}})));
    sketch.local(computes);
    sketch.done(start);
    return state_of(sketch, {}, now);
  };
  CHECK(state(5, Instant(3)) != state(6, Instant(3)));
  CHECK(state(5, Instant(3)) == state(6, Instant(4)));
  CHECK(state(5, Instant(9)) == state(6, Instant(9)));  // the end that they wait for is later
}

TEST_CASE("tapes: the state has when a list passed a start that waits for its stream") {
  const auto state = [](int64_t before) {
    Sketch sketch(2);
    const OpId first = sketch.start(sketch.site(flows(2, {{0, 1, 10}})));
    sketch.local(before);
    sketch.start(sketch.site(flows(2, {{0, 1, 10}})));
    sketch.local(10 - before);
    sketch.done(first);
    return state_of(sketch, {}, Instant(1));
  };
  CHECK(state(5) != state(6));
}

TEST_CASE("tapes: the state has when results of a collective that has ended are copied out") {
  const auto state = [](int64_t leaves) {
    Sketch sketch(2);
    const OpId first = sketch.start(sketch.site(flows(2, {{0, 1, 10}}), 0));
    const OpId second = sketch.start(sketch.site(flows(2, {{0, 1, 10}}), 1));
    sketch.done(second);
    sketch.done(first);
    sketch.lowered.collectives[0].leave = Duration(leaves);
    return state_of(sketch, {0}, Instant(100));
  };
  CHECK(state(5) != state(6));
}

TEST_CASE("tapes: the state has which collectives have been entered and have ended") {
  Sketch sketch(2);
  const OpId first = sketch.start(sketch.site(flows(2, {{0, 1, 10}}), 0));
  sketch.start(sketch.site(flows(2, {{0, 1, 10}}), 1));
  sketch.done(first);
  CHECK(state_of(sketch, {}, Instant(1)) != state_of(sketch, {0}, Instant(1)));
  CHECK(state_of(sketch, {}, Instant(1)) != state_of(sketch, {1}, Instant(1)));
  CHECK(state_of(sketch, {0}, Instant(1)) != state_of(sketch, {1}, Instant(1)));
}

}  // namespace
}  // namespace orrery::test
