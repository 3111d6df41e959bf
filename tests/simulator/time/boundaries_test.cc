// Tests when each half may begin, at exact instants worked out by hand. Two devices have one link
// each way of 1 GB/s and 500 ns: 1,000 bytes are sent in 1,000,000 ps and arrive 500,000 ps later.

#include <doctest/doctest.h>

#include "models/fabric/fabric.h"
#include "simulator/network/demand.h"
#include "simulator/time/engine.h"
#include "simulator/time/sweep.h"
#include "tests/simulator/time/sketch.h"
#include "tests/support/units.h"

namespace orrery::test {
namespace {

Fabric two_devices() {
  return ring_fabric(2, {BytesPerSecond(1'000'000'000), Duration(500'000)});
}

/// Returns a schedule in which node 0 sends `messages` of 1,000 elements to node 1 on one channel.
/// Node 1 combines each message into its output, or stores it.
std::unique_ptr<const Schedule> train(size_t messages, uint32_t slots,
                                      Combine combine = Combine::None, Entry entry = Entry::Eager) {
  StoredSteps steps(2, std::vector<std::vector<Step>>(1));
  Step send;
  send.to = Node(1);
  send.source = Slice{Area::Input, 0, 1'000};
  Step receive;
  receive.from = Node(0);
  receive.target = Slice{Area::Output, 0, 1'000};
  receive.combine = combine;
  if (combine != Combine::None)
    receive.source = Slice{Area::Input, 0, 1'000};
  std::vector<StoredSchedule::Message> ends;
  for (uint32_t m = 0; m < messages; ++m) {
    steps[0][0].push_back(send);
    steps[1][0].push_back(receive);
    ends.push_back({{Node(0), Channel(0), m}, {Node(1), Channel(0), m}});
  }
  Extent extent;
  extent.slots = slots;
  extent.entry = entry;
  return std::make_unique<StoredSchedule>(extent, std::move(steps), std::move(ends));
}

using Spans = std::vector<std::vector<OpSpan>>;

/// Returns the spans without the nodes that held them up.
Spans times(const OpSpans& spans) {
  Spans times;
  for (size_t op = 0; op < spans.size(); ++op) {
    times.emplace_back(spans[op].begin(), spans[op].end());
    for (OpSpan& span : times.back())
      span.held_up_by = {};
  }
  return times;
}

Spans simulated(const Sketch& sketch, std::vector<Instant> device_start = {}) {
  EngineOptions options;
  options.device_start = std::move(device_start);
  return times(simulate(sketch.program, sketch.lowered, two_devices(), options).spans);
}

Spans swept(const Sketch& sketch, std::vector<Instant> device_start = {}) {
  const auto result =
      sweep(sketch.program, sketch.lowered, two_devices(), {std::move(device_start)});
  return times(std::get<Completion>(result).spans);
}

TEST_CASE("capacity: while its sender prepares a message, a link is free for another one") {
  // The first message is prepared 0-2 and sent 2-3, the second prepared 1-3 and sent 3-4. Each
  // arrives 0.5 later.
  Sketch sketch(2);
  const SiteId first = sketch.site(train(1, 1), 0);
  const SiteId second = sketch.site(train(1, 1), 1);
  CollectiveFigures figures;
  figures.messages.overhead = Duration(2 * kUs);
  sketch.figures(figures);
  const OpId start = sketch.start(first);
  sketch.local(kUs);
  const OpId other = sketch.start(second);
  sketch.done(start);
  sketch.done(other);
  const Fabric fabric = two_devices();
  Paths paths(fabric);
  const Demands asked = demands(sketch.lowered, paths);
  REQUIRE(sweep_refusal(asked, fabric));
  SweepOptions options;
  options.check_capacity = &asked;
  const auto swept = sweep(sketch.program, sketch.lowered, paths, options);
  REQUIRE(std::holds_alternative<Completion>(swept));
  CHECK(std::get<Completion>(swept).makespan == Instant(4'500'000));
}

TEST_CASE("ends: a collective begins after its launch, packs, enters, and copies its result out") {
  // The launch takes 0-3 and the pack 3-5. The messages are sent 5-6 and arrive at 6.5. The results
  // are copied out 6-7 and 6.5-7.5.
  Sketch sketch(2);
  sketch.sync(sketch.site(train(1, 1)));
  sketch.launch(Duration(3 * kUs));
  sketch.lowered.collectives[0].pack = Duration(2 * kUs);
  sketch.lowered.collectives[0].leave = Duration(1 * kUs);
  const Spans expected = {{span(0, 3 * kUs, 7 * kUs), span(0, 3 * kUs, 7'500'000)}};
  CHECK(simulated(sketch) == expected);
  CHECK(swept(sketch) == expected);
}

TEST_CASE("credit: message m waits until the slot of message m - k is free") {
  const std::vector<Instant> receiver_late = {Instant(0), Instant(10 * kUs)};
  SUBCASE("one slot: the second message waits for the receiver's entry, the third for the second") {
    // The messages are sent 0-1, 10-11 and 11.5-12.5; the last arrives at 13.
    Sketch sketch(2);
    sketch.sync(sketch.site(train(3, 1)));
    const Spans expected = {{span(0, 0, 12'500'000), span(10 * kUs, 10 * kUs, 13 * kUs)}};
    CHECK(simulated(sketch, receiver_late) == expected);
    CHECK(swept(sketch, receiver_late) == expected);
  }
  SUBCASE("two slots: only the third message waits for the receiver's entry") {
    // The messages are sent 0-1, 1-2 and 10-11; the last arrives at 11.5.
    Sketch sketch(2);
    sketch.sync(sketch.site(train(3, 2)));
    const Spans expected = {{span(0, 0, 11 * kUs), span(10 * kUs, 10 * kUs, 11'500'000)}};
    CHECK(simulated(sketch, receiver_late) == expected);
    CHECK(swept(sketch, receiver_late) == expected);
  }
  SUBCASE("three slots: nothing waits") {
    Sketch sketch(2);
    sketch.sync(sketch.site(train(3, 3)));
    const Spans expected = {{span(0, 0, 3 * kUs), span(10 * kUs, 10 * kUs, 10 * kUs)}};
    CHECK(simulated(sketch, receiver_late) == expected);
    CHECK(swept(sketch, receiver_late) == expected);
  }
}

TEST_CASE("rendezvous: a sender waits until its peer has entered") {
  // The messages are sent 10-11, 11-12 and 12-13. The third uses the first's slot, which is free
  // since 11.5. It arrives at 13.5.
  Sketch sketch(2);
  sketch.sync(sketch.site(train(3, 2, Combine::None, Entry::Rendezvous)));
  const std::vector<Instant> receiver_late = {Instant(0), Instant(10 * kUs)};
  const Spans expected = {{span(0, 0, 13 * kUs), span(10 * kUs, 10 * kUs, 13'500'000)}};
  CHECK(simulated(sketch, receiver_late) == expected);
  CHECK(swept(sketch, receiver_late) == expected);
}

TEST_CASE("reduction: a receiving step takes bytes / reduce rate, rounded up") {
  // 1,000 bytes at 3 GB/s take 333,333.3 ps. The messages are sent 0-1 and 1-2, and arrive at 1.5
  // and 2.5. Each is reduced at once, since the first reduction ends before the second message
  // arrives.
  Sketch sketch(2);
  sketch.sync(sketch.site(train(2, 2, Combine::Add)));
  sketch.reduce_rate(BytesPerSecond(3'000'000'000));
  const Spans expected = {{span(0, 0, 2 * kUs), span(0, 0, 2'833'334)}};
  CHECK(simulated(sketch) == expected);
  CHECK(swept(sketch) == expected);
}

TEST_CASE("reduction: a slow one holds up the next, and with one slot the sender") {
  // 1,000 bytes at 0.5 GB/s take 2 us. The first message is reduced 1.5-3.5; the second is sent
  // 3.5-4.5 and reduced 5-7.
  Sketch sketch(2);
  sketch.sync(sketch.site(train(2, 1, Combine::Add)));
  sketch.reduce_rate(BytesPerSecond(500'000'000));
  const Spans expected = {{span(0, 0, 4'500'000), span(0, 0, 7 * kUs)}};
  CHECK(simulated(sketch) == expected);
  CHECK(swept(sketch) == expected);
}

TEST_CASE("streams: on one, a device enters when the op before has ended there, plus launch") {
  // The launch takes 0.1 us. The first message is sent 0.1-1.1 and arrives at 1.6. Device 0 enters
  // the second collective at 1.2, device 1 at 1.7. Its message is sent 1.2-2.2 and arrives at 2.7.
  Sketch sketch(2);
  sketch.launch(Duration(100'000));
  const OpId first = sketch.start(sketch.site(train(1, 2), 0));
  const OpId second = sketch.start(sketch.site(train(1, 2), 0));
  sketch.done(first);
  sketch.done(second);
  const Spans expected = {
      {span(0, 100'000, 1'100'000), span(0, 100'000, 1'600'000)},
      {span(0, 1'200'000, 2'200'000), span(0, 1'700'000, 2'700'000)},
      {span(0, 0, 1'100'000), span(0, 0, 1'600'000)},
      {span(1'100'000, 1'100'000, 2'200'000), span(1'600'000, 1'600'000, 2'700'000)}};
  CHECK(simulated(sketch) == expected);
  CHECK(swept(sketch) == expected);
}

TEST_CASE("streams: on two, collectives run side by side and share links") {
  // Both messages are sent from 0.1 at half the link's rate, which takes 2 us, until 2.1. Both
  // arrive at 2.6.
  Sketch sketch(2);
  sketch.launch(Duration(100'000));
  const OpId first = sketch.start(sketch.site(train(1, 2), 0));
  const OpId second = sketch.start(sketch.site(train(1, 2), 1));
  sketch.done(first);
  sketch.done(second);
  const Spans result = simulated(sketch);
  const std::vector<OpSpan> each = {span(0, 100'000, 2'100'000), span(0, 100'000, 2'600'000)};
  CHECK(result[0] == each);
  CHECK(result[1] == each);
}

TEST_CASE("async: computation between start and done hides the collective") {
  SUBCASE("a long one wholly: done takes no time") {
    Sketch sketch(2);
    const OpId start = sketch.start(sketch.site(train(1, 2)));
    sketch.local(5 * kUs);
    sketch.done(start);
    const Spans expected = {{span(0, 0, kUs), span(0, 0, 1'500'000)},
                            {span(0, 0, 5 * kUs), span(0, 0, 5 * kUs)},
                            {span(5 * kUs, 5 * kUs, 5 * kUs), span(5 * kUs, 5 * kUs, 5 * kUs)}};
    CHECK(simulated(sketch) == expected);
    CHECK(swept(sketch) == expected);
  }
  SUBCASE("a short one in part: done blocks until this device's own steps have retired") {
    Sketch sketch(2);
    const OpId start = sketch.start(sketch.site(train(1, 2)));
    sketch.local(1'200'000);
    sketch.done(start);
    const Spans expected = {
        {span(0, 0, kUs), span(0, 0, 1'500'000)},
        {span(0, 0, 1'200'000), span(0, 0, 1'200'000)},
        {span(1'200'000, 1'200'000, 1'200'000), span(1'200'000, 1'200'000, 1'500'000)}};
    CHECK(simulated(sketch) == expected);
    CHECK(swept(sketch) == expected);
  }
}

TEST_CASE("sync: what follows a collective starts when it has ended on the device") {
  Sketch sketch(2);
  sketch.local(2 * kUs);
  sketch.sync(sketch.site(train(1, 2)));
  sketch.local(kUs);
  const Spans expected = {{span(0, 0, 2 * kUs), span(0, 0, 2 * kUs)},
                          {span(2 * kUs, 2 * kUs, 3 * kUs), span(2 * kUs, 2 * kUs, 3'500'000)},
                          {span(3 * kUs, 3 * kUs, 4 * kUs), span(3'500'000, 3'500'000, 4'500'000)}};
  CHECK(simulated(sketch) == expected);
  CHECK(swept(sketch) == expected);
}

/// Returns who held up the first op, per device.
std::vector<Node> held_up_by(const Completion& completion) {
  std::vector<Node> nodes;
  for (const OpSpan& span : completion.spans[0])
    nodes.push_back(span.held_up_by);
  return nodes;
}

TEST_CASE("held_up_by: the node whose entry began the chain of last causes") {
  Sketch sketch(2);
  sketch.sync(sketch.site(train(3, 2)));
  EngineOptions options;
  options.device_start = {Instant(0), Instant(10 * kUs)};
  const Completion late = simulate(sketch.program, sketch.lowered, two_devices(), options);
  CHECK(held_up_by(late) == std::vector<Node>{Node(1), Node(1)});
  const Completion even = simulate(sketch.program, sketch.lowered, two_devices());
  CHECK(held_up_by(even) == std::vector<Node>{Node(0), Node(0)});
}

TEST_CASE("run_time: reports why it used the executor it used") {
  SUBCASE("the sweep") {
    Sketch sketch(2);
    sketch.sync(sketch.site(train(1, 2)));
    const Completion completion = run_time(sketch.program, sketch.lowered, two_devices());
    CHECK(completion.by == TimedBy::Sweep);
    CHECK(completion.because == "no link is asked for more than its capacity");
  }
  SUBCASE("the sweep, where two streams could send over one link at once, and do not") {
    Sketch sketch(2);
    sketch.sync(sketch.site(train(1, 2), 0));
    sketch.sync(sketch.site(train(1, 2), 1));
    const Completion completion = run_time(sketch.program, sketch.lowered, two_devices());
    CHECK(completion.by == TimedBy::Sweep);
    CHECK(completion.because == "no link is asked for more than its capacity");
  }
  SUBCASE("the engine, where two streams of a device send over one link at once") {
    Sketch sketch(2);
    const SiteId one = sketch.site(train(1, 2), 0);
    const SiteId other = sketch.site(train(1, 2), 1);
    const OpId first = sketch.start(one);
    const OpId second = sketch.start(other);
    sketch.done(first);
    sketch.done(second);
    const Completion completion = run_time(sketch.program, sketch.lowered, two_devices());
    CHECK(completion.by == TimedBy::Engine);
    CHECK(completion.because ==
          "link device 0 -> device 1 has 1 GB/s, and 2 chains of messages may ask it for 2 GB/s");
  }
}

TEST_CASE("sweep: refuses where caps sum to one byte per second more than the link has") {
  const auto capped = [](int64_t first, int64_t second) {
    Sketch sketch(2);
    const auto add = [&](uint32_t stream, int64_t cap) {
      CollectiveFigures figures;
      figures.messages.channel_rate = BytesPerSecond(cap);
      const SiteId site = sketch.site(train(1, 2), stream);
      sketch.figures(site, figures);
      sketch.sync(site);
    };
    add(0, first);
    add(1, second);
    return sweep_refusal(sketch.lowered, two_devices()).has_value();
  };
  CHECK_FALSE(capped(400'000'000, 600'000'000));
  CHECK(capped(400'000'001, 600'000'000));
}

}  // namespace
}  // namespace orrery::test
