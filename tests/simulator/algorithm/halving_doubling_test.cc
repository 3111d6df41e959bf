// Tests halving and doubling by interpreting their steps (interpreter.h).

#include "simulator/algorithm/halving_doubling.h"

#include <bit>

#include <doctest/doctest.h>

#include "tests/simulator/algorithm/any_transport.h"
#include "tests/simulator/algorithm/form.h"
#include "tests/simulator/algorithm/interpreter.h"
#include "tests/simulator/algorithm/steps_text.h"
#include "tests/support/property.h"

namespace orrery::test {
namespace {

using Form = HalvingDoublingSchedule::Form;

Transport any_cut() {
  Transport transport = any_transport();
  transport.largest = in_range<int64_t>(0, 9);
  return transport;
}

HalvingDoublingSchedule made(Form form, uint32_t nodes, int64_t count, Transport transport = {}) {
  return {form, nodes, count, form == Form::AllGather ? Combine::None : Combine::Add, transport};
}

TEST_CASE("halving and doubling: every rank gets the sum, its part of it, or what all have") {
  holds_for_all("values", [] {
    const auto nodes = in_range(1U, 34U);
    const Transport transport = any_cut();
    const auto count = in_range<int64_t>(0, 101);
    const auto data = inputs(nodes, count);
    const Moved reduced = move_data(made(Form::AllReduce, nodes, count, transport), data);
    RC_ASSERT(reduced.error.empty());
    for (const Elements& output : reduced.outputs)
      RC_ASSERT(output == sum(data));

    const auto part = in_range<int64_t>(0, 9);
    const auto wide = inputs(nodes, nodes * part);
    const Elements total = sum(wide);
    const Moved scattered =
        move_data(made(Form::ReduceScatter, nodes, nodes * part, transport), wide);
    RC_ASSERT(scattered.error.empty());
    for (uint32_t rank = 0; rank < nodes; ++rank) {
      const auto first = total.begin() + rank * part;
      RC_ASSERT(scattered.outputs[rank] == Elements(first, first + part));
    }

    const auto parts = inputs(nodes, part);
    Elements all;
    for (const Elements& own : parts)
      all.insert(all.end(), own.begin(), own.end());
    const Moved gathered = move_data(made(Form::AllGather, nodes, nodes * part, transport), parts);
    RC_ASSERT(gathered.error.empty());
    for (const Elements& output : gathered.outputs)
      RC_ASSERT(output == all);
  });
}

TEST_CASE("halving and doubling: messages, lockstep and window meet what walkers require") {
  holds_for_all("form", [](uint64_t seed) {
    const auto nodes = in_range(1U, 18U);
    const Form form = one_of(Form::AllGather, Form::ReduceScatter, Form::AllReduce);
    RC_ASSERT(error_in_form(made(form, nodes, int64_t{nodes} * 7, any_cut()), seed) == "");
  });
}

TEST_CASE("halving and doubling: the steps of rank 1 of 4") {
  // It first shares with rank 0 and keeps the second half, and of that the first half: part 2.
  CHECK(steps_of(made(Form::AllReduce, 4, 8), 1) ==
        "0: input[0,4) to 0; 0: from 0 + input[4,8) -> output[4,8); "
        "0: output[6,8) to 3; 0: from 3 + output[4,6) -> output[4,6); "
        "0: output[4,6) to 3; 0: from 3 -> output[6,8); "
        "0: output[4,8) to 0; 0: from 0 -> output[0,4)");
  CHECK(steps_of(made(Form::ReduceScatter, 4, 8), 1) ==
        "0: input[4,8) to 3; 0: from 3 + input[0,4) -> scratch[0,4); "
        "0: scratch[0,2) to 0; 0: from 0 + scratch[2,4) -> output[0,2)");
  CHECK(steps_of(made(Form::AllGather, 4, 8), 1) ==
        "0: input[0,2) -> output[2,4); 0: output[2,4) to 0; 0: from 0 -> output[0,2); "
        "0: output[0,4) to 3; 0: from 3 -> output[4,8)");
}

TEST_CASE("halving and doubling: of 3 ranks, rank 1 leaves its work to rank 0") {
  CHECK(steps_of(made(Form::ReduceScatter, 3, 6), 0) ==
        "0: from 1 + input[0,6) -> scratch[0,6); 0: scratch[4,6) to 2; "
        "0: from 2 + scratch[0,4) -> scratch[0,4); 0: scratch[2,4) to 1; "
        "0: scratch[0,2) -> output[0,2)");
  CHECK(steps_of(made(Form::ReduceScatter, 3, 6), 1) ==
        "0: input[0,6) to 0; 0: from 0 -> output[0,2)");
  CHECK(steps_of(made(Form::ReduceScatter, 3, 6), 2) ==
        "0: input[0,4) to 0; 0: from 0 + input[4,6) -> output[0,2)");
}

TEST_CASE("halving and doubling: several channels keep their shares together in scratch") {
  Transport transport;
  transport.channels = 2;
  CHECK(steps_of(made(Form::ReduceScatter, 2, 6, transport), 0) ==
        "0: input[0,2) -> scratch[0,2); 0: input[3,5) -> scratch[2,4); 0: scratch[2,4) to 1; "
        "0: from 1 + scratch[0,2) -> output[0,2); "
        "1: input[2,3) -> scratch[4,5); 1: input[5,6) -> scratch[5,6); 1: scratch[5,6) to 1; "
        "1: from 1 + scratch[4,5) -> output[2,3)");
}

TEST_CASE("halving and doubling: of a power of two, each rank sends 1 - 1/n of the elements") {
  for (uint32_t n = 2; n <= 64; n *= 2) {
    CAPTURE(n);
    const uint32_t rounds = static_cast<uint32_t>(std::bit_width(n)) - 1;
    const int64_t count = 3 * int64_t{n};
    for (const Form form : {Form::AllGather, Form::ReduceScatter, Form::AllReduce}) {
      const uint32_t turns = form == Form::AllReduce ? 2 : 1;
      const Moved moved =
          move_data(made(form, n, count), inputs(n, form == Form::AllGather ? 3 : count));
      std::vector<int64_t> sent(n);
      for (const auto& [ends, elements] : moved.elements)
        sent[ends.first] += elements;
      CHECK(moved.sent == std::vector<uint32_t>(n, turns * rounds));
      CHECK(sent == std::vector<int64_t>(n, turns * (count - 3)));
    }
  }
}

TEST_CASE("halving and doubling: a folded rank sends its input, and gets its result") {
  // For n = 6, p = 4: ranks 1 and 3 are folded.
  const Moved moved = move_data(made(Form::AllReduce, 6, 16), inputs(6, 16));
  CHECK(moved.sent == std::vector<uint32_t>{5, 1, 5, 1, 4, 4});
  CHECK(moved.elements.at({1, 0}) == 16);
  CHECK(moved.elements.at({2, 3}) == 16);
  CHECK(moved.elements.at({0, 2}) == 2 * 8);  // they share the largest range
}

}  // namespace
}  // namespace orrery::test
