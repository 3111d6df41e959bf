// Compares collectives in a quiet switch, by the executors, with their closed forms.

#include "simulator/algorithm/in_switch.h"

#include <doctest/doctest.h>

#include "models/fabric/fabric.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/network/demand.h"
#include "simulator/time/engine.h"
#include "simulator/time/sweep.h"
#include "tests/simulator/time/sketch.h"

namespace orrery::test {
namespace {

std::unique_ptr<const Schedule> in_switch(InSwitchSchedule::Form form, uint32_t ranks,
                                          int64_t bytes, Transport transport = {}) {
  const bool folds =
      form != InSwitchSchedule::Form::AllGather && form != InSwitchSchedule::Form::Broadcast;
  return std::make_unique<InSwitchSchedule>(
      form, ranks, bytes, folds ? Combine::Add : Combine::None, Node(ranks - 1), transport);
}

/// Returns a program with one collective of u8 over all devices.
Sketch sketch_of(uint32_t ranks, std::unique_ptr<const Schedule> schedule) {
  Sketch sketch(ranks);
  sketch.sync(sketch.site(std::move(schedule)));
  return sketch;
}

Duration hop(int64_t bytes) {
  return transfer_time(Bytes(bytes), kUnevenLink.bandwidth) + kUnevenLink.latency;
}

/// Returns the makespan of n ranks, S bytes and n chunks of c = S / n. In each half, messages at
/// the same time share the link of a rank; its rate divides evenly among up to 12 ranks.
Instant closed_form(InSwitchSchedule::Form form, int64_t ranks, int64_t bytes) {
  const int64_t chunk = bytes / ranks;
  // Each rank sends n chunks over its link; then each owner gets one folded chunk.
  const Duration reduce = hop(ranks * chunk) + hop(chunk);
  // Each owner sends its chunk; then each rank gets the n - 1 other chunks.
  const Duration cast = hop(chunk) + hop((ranks - 1) * chunk);
  switch (form) {
    case InSwitchSchedule::Form::AllReduce:
      return Instant() + reduce + cast;
    case InSwitchSchedule::Form::ReduceScatter:
      return Instant() + reduce;
    case InSwitchSchedule::Form::AllGather:
      return Instant() + cast;
    case InSwitchSchedule::Form::Broadcast:  // to the switch, and from it to all at once
    case InSwitchSchedule::Form::FoldAndCast:
      return Instant() + hop(bytes) * 2;
  }
  return {};
}

constexpr InSwitchSchedule::Form kForms[] = {
    InSwitchSchedule::Form::AllReduce, InSwitchSchedule::Form::ReduceScatter,
    InSwitchSchedule::Form::AllGather, InSwitchSchedule::Form::Broadcast,
    InSwitchSchedule::Form::FoldAndCast};

TEST_CASE("in switch: each form takes the time of its closed form, to the picosecond") {
  for (uint32_t n = 2; n <= 12; ++n) {
    const Fabric fabric = switch_fabric(n, kUnevenLink);
    for (const InSwitchSchedule::Form form : kForms) {
      for (const int64_t chunk : {0, 3, 1'000, 12'345, 3'000'003}) {
        // Each channel carries a share of a chunk, and the shares go at the same time.
        for (const uint32_t channels : {1U, 3U}) {
          CAPTURE(n);
          CAPTURE(chunk);
          CAPTURE(static_cast<int>(form));
          Transport transport;
          transport.channels = chunk % 3 == 0 ? channels : 1;
          const Sketch sketch = sketch_of(n, in_switch(form, n, chunk * n, transport));
          REQUIRE(simulate(sketch.program, sketch.lowered, fabric).makespan ==
                  closed_form(form, n, chunk * n));
        }
      }
    }
  }
}

TEST_CASE("in switch: a broadcast shares no link, and the sweep times it") {
  for (uint32_t n = 2; n <= 70; ++n) {
    const Fabric fabric = switch_fabric(n, kUnevenLink);
    const Sketch sketch = sketch_of(n, in_switch(InSwitchSchedule::Form::Broadcast, n, 12'345));
    REQUIRE(!sweep_refusal(sketch.lowered, fabric));
    const auto swept = sweep(sketch.program, sketch.lowered, fabric);
    REQUIRE(std::get<Completion>(swept).makespan ==
            closed_form(InSwitchSchedule::Form::Broadcast, n, 12'345));
  }
}

TEST_CASE("in switch: a broadcast that is cut goes on before all of it is there") {
  // m messages of s bytes go up one after another, and go down one message later. With two slots no
  // message waits: a slot is free again after the latency, which is shorter than a message takes.
  constexpr int64_t kSlot = 100'000;
  REQUIRE(kUnevenLink.latency < transfer_time(Bytes(kSlot), kUnevenLink.bandwidth));
  const Duration message = transfer_time(Bytes(kSlot), kUnevenLink.bandwidth);
  for (const int64_t m : {1, 2, 3, 50}) {
    CAPTURE(m);
    const Fabric fabric = switch_fabric(4, kUnevenLink);
    const Sketch sketch =
        sketch_of(4, cut(in_switch(InSwitchSchedule::Form::Broadcast, 4, m * kSlot), kSlot));
    const Instant expected = Instant() + message * (m + 1) + kUnevenLink.latency * 2;
    CHECK(std::get<Completion>(sweep(sketch.program, sketch.lowered, fabric)).makespan == expected);
    CHECK(simulate(sketch.program, sketch.lowered, fabric).makespan == expected);
  }
}

TEST_CASE(
    "in switch: an all-reduce that is cut nears (1 + 1/n) of the time of its data on a link") {
  // The data and each rank's own chunk once more go up, and as much comes down at the same time.
  constexpr uint32_t kRanks = 8;
  constexpr int64_t kBytes = int64_t{kRanks} * 400 * 10'000;
  const Fabric fabric = switch_fabric(kRanks, {kUnevenLink.bandwidth, Duration(0)});
  Transport transport;
  transport.slots = 4;
  const Sketch sketch = sketch_of(
      kRanks, cut(in_switch(InSwitchSchedule::Form::AllReduce, kRanks, kBytes, transport), 10'000));
  const Duration least = transfer_time(Bytes(kBytes + kBytes / kRanks), kUnevenLink.bandwidth);
  const Duration takes = simulate(sketch.program, sketch.lowered, fabric).makespan - Instant();
  CHECK(takes >= least);
  CHECK(takes * 50 < least * 51);  // 2% more
}

TEST_CASE(
    "in switch: the switch is ready when the first rank comes, and folds when the last came") {
  const Fabric fabric = switch_fabric(4, kUnevenLink);
  const int64_t bytes = 4'000;
  for (const InSwitchSchedule::Form form : kForms) {
    CAPTURE(static_cast<int>(form));
    const Sketch sketch = sketch_of(4, in_switch(form, 4, bytes));
    EngineOptions options;
    options.device_start.assign(4, Instant(5'000'000'000));  // all late: as much later
    CHECK(simulate(sketch.program, sketch.lowered, fabric, options).makespan ==
          closed_form(form, 4, bytes) + Duration(5'000'000'000));
  }
  // The last rank enters when the data of the other ranks are at the switch.
  const Sketch sketch = sketch_of(4, in_switch(InSwitchSchedule::Form::ReduceScatter, 4, bytes));
  EngineOptions options;
  options.device_start.assign(4, Instant());
  options.device_start[2] = Instant(5'000'000'000);
  const Completion late = simulate(sketch.program, sketch.lowered, fabric, options);
  CHECK(late.makespan ==
        closed_form(InSwitchSchedule::Form::ReduceScatter, 4, bytes) + Duration(5'000'000'000));
  for (const OpSpan& span : late.spans[0])
    CHECK(span.held_up_by == Node(2));
}

TEST_CASE("in switch: who sends to the switch waits for nobody, and the switch for who receives") {
  // Rank 3 broadcasts. Rank 1 enters late: with rendezvous, its copy is sent then.
  const Fabric fabric = switch_fabric(4, kUnevenLink);
  const Instant entry(5'000'000'000);
  for (const Entry mode : {Entry::Eager, Entry::Rendezvous}) {
    Transport transport;
    transport.entry = mode;
    const Sketch sketch =
        sketch_of(4, in_switch(InSwitchSchedule::Form::Broadcast, 4, 1'000, transport));
    SweepOptions options;
    options.device_start.assign(4, Instant());
    options.device_start[1] = entry;
    const auto swept = sweep(sketch.program, sketch.lowered, fabric, options);
    const std::span<const OpSpan> spans = std::get<Completion>(swept).spans[0];
    CHECK(spans[3].end == Instant() + transfer_time(Bytes(1'000), kUnevenLink.bandwidth));
    CHECK(spans[0].end == closed_form(InSwitchSchedule::Form::Broadcast, 4, 1'000));
    CHECK(spans[1].end == (mode == Entry::Eager ? entry : entry + hop(1'000)));
  }
}

TEST_CASE("in switch: what the devices need to reduce does not slow the switch down") {
  const Fabric fabric = switch_fabric(4, kUnevenLink);
  Sketch sketch = sketch_of(4, in_switch(InSwitchSchedule::Form::AllReduce, 4, 4'000));
  sketch.reduce_rate(BytesPerSecond(1'000));
  CHECK(simulate(sketch.program, sketch.lowered, fabric).makespan ==
        closed_form(InSwitchSchedule::Form::AllReduce, 4, 4'000));
}

TEST_CASE("in switch: messages of different collectives may leave the switch at once") {
  const Fabric fabric = switch_fabric(4, kUnevenLink);
  const auto from_switch = [&](const Lowered& lowered) {
    Paths paths(fabric);
    const Demands found = demands(lowered, paths);
    return found.links[fabric.direct_link(VertexId(4), VertexId(0))->index()];
  };
  Sketch twice(4);
  for (int i = 0; i < 2; ++i)
    twice.sync(twice.site(in_switch(InSwitchSchedule::Form::Broadcast, 4, 1'000)));
  CHECK(from_switch(twice.lowered).chains == 2);
  CHECK(from_switch(twice.lowered).peak == 2 * kUnevenLink.bandwidth.count());
  CHECK(from_switch(twice.lowered).bytes == 2'000);
  // The copies of the runs in a loop may use the link at the same time, too.
  Sketch thrice = sketch_of(4, in_switch(InSwitchSchedule::Form::Broadcast, 4, 1'000));
  thrice.lowered.collectives[0].times = 3;
  CHECK(from_switch(thrice.lowered).chains == 3);
  CHECK(from_switch(thrice.lowered).bytes == 3'000);
}

TEST_CASE("in switch: copies of two broadcasts share the link down") {
  // Rank 3 sends 4,000 bytes in 1 us. The next broadcast follows at once, since the first ends when
  // it has sent. Down it takes 4 us. When the second is at the switch, at 2 us, three quarters of
  // the first are left: 3 us, or 6 us at half the rate. Then a quarter of the second is left.
  std::vector<Link> links;
  for (uint32_t d = 0; d < 4; ++d) {
    links.push_back({VertexId(d), VertexId(4), BytesPerSecond(4'000'000'000), Duration(0)});
    links.push_back({VertexId(4), VertexId(d), BytesPerSecond(1'000'000'000), Duration(0)});
  }
  const Fabric fabric(4, {"s"}, links);
  Sketch sketch(4);
  for (int i = 0; i < 2; ++i)
    sketch.sync(sketch.site(in_switch(InSwitchSchedule::Form::Broadcast, 4, 4'000)));
  const Completion completion = run_time(sketch.program, sketch.lowered, fabric);
  CHECK(completion.by == TimedBy::Engine);
  CHECK(completion.spans[0][0].end == Instant(8'000'000));
  CHECK(completion.spans[1][0].end == Instant(9'000'000));
  CHECK(completion.spans[1][3].end == Instant(2'000'000));
}

TEST_CASE("in switch: a message inside the switch uses none of the links of the one before it") {
  // Rank 0 sends 1,000 B to switch node 2. That node sends them to rank 1, and then to switch node
  // 3, which sends them to rank 1 too. The two messages go one after the other over one link, which
  // both may request.
  const auto moves = [](std::optional<uint32_t> from, std::optional<uint32_t> to, Area area) {
    Step step;
    if (from)
      step.from = Node(*from);
    if (to)
      step.to = Node(*to);
    (from ? step.target : step.source) = Slice{area, 0, 1'000};
    return step;
  };
  StoredSteps steps(4, std::vector<std::vector<Step>>(1));
  steps[0][0] = {moves({}, 2, Area::Input)};
  steps[1][0] = {moves(2, {}, Area::Output), moves(3, {}, Area::Output)};
  steps[2][0] = {moves(0, {}, Area::Scratch), moves({}, 1, Area::Scratch),
                 moves({}, 3, Area::Scratch)};
  steps[3][0] = {moves(2, {}, Area::Scratch), moves({}, 1, Area::Scratch)};
  Extent extent;
  extent.switch_nodes = 2;
  extent.input = 1'000;
  extent.output = 1'000;
  extent.switch_scratch = 1'000;
  auto messages = match_by_channel(steps);
  const Fabric fabric = switch_fabric(2, kUnevenLink);
  const Sketch sketch =
      sketch_of(2, std::make_unique<StoredSchedule>(extent, std::move(steps), std::move(messages)));
  const Completion completion = run_time(sketch.program, sketch.lowered, fabric);
  CHECK(completion.by == TimedBy::Sweep);
  CHECK(completion.makespan == Instant() + transfer_time(Bytes(1'000), kUnevenLink.bandwidth) * 3 +
                                   kUnevenLink.latency * 2);
}

}  // namespace
}  // namespace orrery::test
