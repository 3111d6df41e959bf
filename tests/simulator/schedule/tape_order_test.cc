// When a device goes on: the causes of every moment of a tape, and the progress of a list.

#include "simulator/schedule/tape.h"

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace orrery::test {
namespace {

using Kind = Instruction::Kind;

Instruction enter(uint32_t op, uint32_t stream) {
  return {Kind::Enter, OpId(op), OpId(op), StreamId(stream)};
}
Instruction wait(uint32_t op, uint32_t started, uint32_t stream) {
  return {Kind::Wait, OpId(op), OpId(started), StreamId(stream)};
}
Instruction local(uint32_t op) {
  return {Kind::Local, OpId(op), OpId(op), {}};
}

/// 0: start op 0 on stream 3; 1: local; 2: start op 2 on stream 5; 3 and 4: op 3, sync, on stream
/// 3; 5: done of op 0; 6: done of op 2.
Tape example() {
  return {enter(0, 3),   local(1),      enter(2, 5),  enter(3, 3),
          wait(3, 3, 3), wait(4, 0, 3), wait(5, 2, 5)};
}

std::string causes(const Tape& tape, MomentKind kind, uint32_t instruction) {
  std::string text;
  for_each_cause(tape, {kind, instruction}, [&](Moment cause) {
    static constexpr const char* kNames[] = {"passed ", "entered ", "ended "};
    text += (text.empty() ? "" : ", ") + std::string(kNames[static_cast<size_t>(cause.kind)]) +
            std::to_string(cause.instruction);
    return true;
  });
  return text;
}

TEST_CASE("tape order: an instruction is passed after the one before it") {
  const Tape tape = example();
  const TapeOrder order(tape);
  CHECK(causes(order, MomentKind::Passed, 0).empty());
  CHECK(causes(order, MomentKind::Passed, 1) == "passed 0");
  CHECK(causes(order, MomentKind::Passed, 3) == "passed 2");
}

TEST_CASE("tape order: a wait is passed after the end of the collective that it names") {
  const Tape tape = example();
  const TapeOrder order(tape);
  CHECK(causes(order, MomentKind::Passed, 4) == "passed 3, ended 3");
  CHECK(causes(order, MomentKind::Passed, 5) == "passed 4, ended 0");
  CHECK(causes(order, MomentKind::Passed, 6) == "passed 5, ended 2");
}

TEST_CASE("tape order: a collective is entered after the one before it on its stream has ended") {
  const Tape tape = example();
  const TapeOrder order(tape);
  CHECK(causes(order, MomentKind::Entered, 0) == "passed 0");
  CHECK(causes(order, MomentKind::Entered, 2) == "passed 2");
  CHECK(causes(order, MomentKind::Entered, 3) == "passed 3, ended 0");
  CHECK(causes(order, MomentKind::Ended, 3) == "entered 3");
}

TEST_CASE("tape order: the enumeration stops where the visitor says so") {
  const Tape tape = example();
  uint32_t visits = 0;
  CHECK_FALSE(for_each_cause(TapeOrder(tape), {MomentKind::Passed, 5}, [&](Moment) {
    ++visits;
    return false;
  }));
  CHECK(visits == 1);
}

TEST_CASE("tape order: finds the instructions of one collective") {
  const Tape tape = example();
  const TapeOrder order(tape);
  CHECK(order.streams() == 2);
  CHECK(order.enters(0).size() == 2);
  CHECK(order.index_on_stream(3) == 1);
  CHECK(order.stream_of(2) == 1);
  CHECK(order.enter_of(5) == 0);
  CHECK(order.wait_of(0) == 5U);
}

TEST_CASE("tape order: a collective that nothing waits for, and one that two waits name") {
  const Tape tape = {enter(0, 0), enter(1, 0), wait(2, 1, 0), wait(3, 1, 0)};
  const TapeOrder order(tape);
  CHECK(order.wait_of(0) == std::nullopt);
  CHECK(order.wait_of(1) == 2U);
}

TEST_CASE("tape order: a sync op has two instructions, any other one") {
  const Tape tape = example();
  const TapeOrder order(tape);
  std::vector<uint32_t> firsts;
  for (uint32_t i = 0; i < order.size(); ++i)
    if (order.begins_op(i))
      firsts.push_back(i);
  CHECK(firsts == std::vector<uint32_t>{0, 1, 2, 3, 5, 6});
}

TEST_CASE("tape order: each op ends with one moment, a collective with its end") {
  const Tape tape = example();
  const TapeOrder order(tape);
  std::vector<Moment> ends;
  for (uint32_t i = 0; i < order.size(); ++i)
    for (const MomentKind kind : {MomentKind::Passed, MomentKind::Entered, MomentKind::Ended})
      if (ends_op(order, {kind, i}))
        ends.push_back({kind, i});
  CHECK(ends == std::vector<Moment>{{MomentKind::Ended, 0},
                                    {MomentKind::Passed, 1},
                                    {MomentKind::Ended, 2},
                                    {MomentKind::Ended, 3},
                                    {MomentKind::Passed, 5},
                                    {MomentKind::Passed, 6}});
}

TEST_CASE("tape order: a start uses its tensors until its first done, or to the end") {
  const Tape tape = example();
  CHECK(ends_of_use(TapeOrder(tape)) == std::vector<uint32_t>{4, 1, 5, 3, 4, 5});
  const Tape undone = {enter(0, 0), enter(1, 0), wait(2, 1, 0), wait(3, 1, 0)};
  CHECK(ends_of_use(TapeOrder(undone)) == std::vector<uint32_t>{4, 2, 2, 3});
}

}  // namespace
}  // namespace orrery::test
