// Tests rings by interpreting their steps (interpreter.h), and against their closed forms.

#include "simulator/algorithm/ring.h"

#include <doctest/doctest.h>

#include "tests/simulator/algorithm/form.h"
#include "tests/simulator/algorithm/interpreter.h"
#include "tests/support/property.h"
#include "tests/support/tries.h"

namespace orrery {
namespace {

using Form = RingSchedule::Form;
using Ways = RingSchedule::Ways;
using test::Elements;

struct Case {
  uint32_t nodes;
  int64_t count;
  Transport transport;
  Ways ways;
};

Case any_case() {
  Case any{test::in_range(1U, 18U),
           test::in_range<int64_t>(0, 201),
           {},
           test::one_of(Ways::One, Ways::Both)};
  any.transport.channels = test::in_range(1U, 4U);
  any.transport.slots = test::in_range(2U, 5U);
  return any;
}

/// Returns part r of a tensor in n parts, of which the first count % n are one element larger.
Elements part_of(const Elements& whole, uint32_t nodes, uint32_t r) {
  const int64_t count = static_cast<int64_t>(whole.size());
  const int64_t first = r * (count / nodes) + std::min<int64_t>(r, count % nodes);
  const int64_t size = count / nodes + (r < count % nodes ? 1 : 0);
  return {whole.begin() + first, whole.begin() + first + size};
}

TEST_CASE("ring all-reduce: every rank gets the sum") {
  test::holds_for_all("sum", [] {
    const Case c = any_case();
    const RingSchedule ring(Form::AllReduce, c.nodes, c.count, Combine::Add, c.transport, c.ways);
    const auto inputs = test::inputs(c.nodes, c.count);
    const test::Moved moved = test::move_data(ring, inputs);
    RC_ASSERT(moved.error.empty());
    for (const Elements& output : moved.outputs)
      RC_ASSERT(output == test::sum(inputs));
  });
}

TEST_CASE("ring reduce-scatter: rank r gets chunk r of the sum") {
  test::holds_for_all("chunk of the sum", [] {
    const Case c = any_case();
    const RingSchedule ring(Form::ReduceScatter, c.nodes, c.count, Combine::Add, c.transport,
                            c.ways);
    const auto inputs = test::inputs(c.nodes, c.count);
    test::Moved moved = test::move_data(ring, inputs);
    RC_ASSERT(moved.error.empty());
    for (uint32_t r = 0; r < c.nodes; ++r) {
      const Elements expected = part_of(test::sum(inputs), c.nodes, r);
      moved.outputs[r].resize(expected.size());  // smaller chunks leave one element unwritten
      RC_ASSERT(moved.outputs[r] == expected);
    }
  });
}

TEST_CASE("ring all-gather: every rank gets all chunks in rank order") {
  test::holds_for_all("concatenation", [] {
    const Case c = any_case();
    const RingSchedule ring(Form::AllGather, c.nodes, c.count, Combine::None, c.transport, c.ways);
    const Elements whole = test::inputs(1, c.count).front();
    std::vector<Elements> inputs;
    for (uint32_t r = 0; r < c.nodes; ++r) {
      inputs.push_back(part_of(whole, c.nodes, r));
      inputs.back().resize(static_cast<size_t>(ring.extent().input));
    }
    const test::Moved moved = test::move_data(ring, inputs);
    RC_ASSERT(moved.error.empty());
    for (const Elements& output : moved.outputs)
      RC_ASSERT(output == whole);
  });
}

TEST_CASE("ring: messages, lockstep and window meet what walkers require") {
  test::holds_for_all("form", [](uint64_t seed) {
    const Case c = any_case();
    const auto form = test::one_of(Form::AllGather, Form::ReduceScatter, Form::AllReduce);
    const Combine combine = form == Form::AllGather ? Combine::None : Combine::Add;
    const RingSchedule ring(form, c.nodes, c.count, combine, c.transport, c.ways);
    RC_ASSERT(test::error_in_form(ring, seed) == "");
  });
}

TEST_CASE("ring all-reduce: a link carries every chunk twice, except two that it carries once") {
  // Rank r sends chunks r, r-1, ..., that is r - i for i = 0..2n-3. The chunks with i + n <= 2n-3
  // are sent again at i + n. So only i = n-2 and i = n-1, chunks r+2 and r+1, are sent once.
  for (uint32_t n = 2; n <= 9; ++n) {
    const int64_t count = 100;
    const RingSchedule ring(Form::AllReduce, n, count, Combine::Add, {});
    const auto inputs = test::inputs(n, count);
    const test::Moved moved = test::move_data(ring, inputs);
    for (uint32_t r = 0; r < n; ++r) {
      const auto size = [&](uint32_t chunk) {
        return static_cast<int64_t>(part_of(inputs[0], n, chunk % n).size());
      };
      CAPTURE(n);
      CAPTURE(r);
      CHECK(moved.sent[r] == 2 * (n - 1));
      CHECK(moved.elements.at({r, (r + 1) % n}) == 2 * count - size(r + 1) - size(r + 2));
    }
  }
}

TEST_CASE("ring both ways: of every chunk, the larger half goes on and the other goes back") {
  // There are n chunks of 5 elements: 3 go on in n-1 messages, and 2 go back in as many.
  for (uint32_t n = 3; n <= 9; ++n) {
    const RingSchedule ring(Form::AllGather, n, int64_t{5} * n, Combine::None, {}, Ways::Both);
    const test::Moved moved = test::move_data(ring, test::inputs(n, 5));
    for (uint32_t r = 0; r < n; ++r) {
      CAPTURE(n);
      CAPTURE(r);
      CHECK(moved.sent[r] == 2 * (n - 1));
      CHECK(moved.elements.at({r, (r + 1) % n}) == 3 * (n - 1));
      CHECK(moved.elements.at({r, (r + n - 1) % n}) == 2 * (n - 1));
    }
  }
}

TEST_CASE("ring: with one slot, forwarding without storing deadlocks") {
  // Over three or more ranks, step 1 of a reduction keeps its message's slot until it has sent. To
  // send, it needs the slot that step 1 of the next rank keeps. A gather stores its messages, and
  // with two ranks no step forwards without storing.
  Transport one;
  one.slots = 1;
  for (uint32_t n = 1; n <= 6; ++n) {
    for (const Form form : {Form::AllGather, Form::ReduceScatter, Form::AllReduce}) {
      const Combine combine = form == Form::AllGather ? Combine::None : Combine::Add;
      const RingSchedule ring(form, n, 12, combine, one);
      const test::Moved moved = test::move_data(ring, test::inputs(n, ring.extent().input));
      CAPTURE(n);
      CHECK(ring.extent().lockstep == moved.parked.empty());
      if (form == Form::AllGather || n <= 2) {
        CHECK(moved.parked.empty());
        CHECK(test::error_in_form(ring, 1) == "");
      } else {
        REQUIRE(moved.parked.size() == n);
        for (const Parked& parked : moved.parked) {
          CHECK(parked.half.half == Half::Send);
          CHECK(parked.half.step.index == 1);
          CHECK(parked.cause.kind == CauseKind::Credit);
          CHECK(parked.cause.half == Half::Send);
        }
      }
    }
  }
}

/// Computes when halves end if every link takes `latency` plus 1 ps per element. It uses the causes
/// alone.
struct MaxPlus {
  const RingSchedule& ring;
  int64_t latency;
  std::map<std::pair<StepRef, Half>, int64_t> ended = {};
  int64_t last = 0;

  void end(StepRef ref, Half half, const Step& step, int64_t takes) {
    int64_t start = 0;
    for_each_cause(ring, ring.extent(), ref, half, step, [&](const Cause& cause) {
      if (cause.kind == CauseKind::Message)
        start = std::max(start, ended.at({cause.step, cause.half}) + latency);
      else if (cause.kind != CauseKind::Enter)
        start = std::max(start, ended.at({cause.step, cause.half}));
      return true;
    });
    ended[{ref, half}] = start + takes;
    last = std::max(last, start + takes);
  }
  void receive(StepRef ref, const Step& step) { end(ref, Half::Receive, step, 0); }
  void send(StepRef ref, const Step& step) {
    end(ref, Half::Send, step, step.to ? step.count() : 0);
  }
};

TEST_CASE("ring all-reduce: ends after 2(n-1) hops of the largest chunk") {
  uint64_t seed = 0;
  for (uint32_t n = 2; n <= 12; ++n) {
    for (int64_t count = 0; count <= 30; ++count) {
      if (!test::is_tried_sanitized(++seed))
        continue;
      for (uint32_t slots = 2; slots <= 4; ++slots) {
        Transport transport;
        transport.slots = slots;
        for (const Ways ways : {Ways::One, Ways::Both}) {
          const RingSchedule ring(Form::AllReduce, n, count, Combine::Add, transport, ways);
          MaxPlus time{ring, 7};
          walk(ring, time);
          CAPTURE(n);
          CAPTURE(count);
          // No message waits for another message: each hop takes a latency of 7 and the transfer of
          // ceil(count / n) elements, or of the larger half of them. Here every message has a link
          // to itself, also with two ranks.
          const int64_t chunk = (count + n - 1) / n;
          CHECK(time.last == 2 * (n - 1) * (7 + (ways == Ways::Both ? (chunk + 1) / 2 : chunk)));
        }
      }
    }
  }
}

}  // namespace
}  // namespace orrery
