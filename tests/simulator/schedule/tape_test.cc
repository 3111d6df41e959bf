// Tests when a device goes on: the causes of every moment of a tape, and the progress of a list.

#include "simulator/schedule/tape.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace orrery::test {
namespace {

/// `Ops` builds a thread's ops, and its tape.
class Ops {
 public:
  Ops& local() { return add(OpKind::Add, Issue::Sync, 0); }
  Ops& start(uint32_t stream) { return add(OpKind::Psum, Issue::Start, stream); }
  Ops& sync(uint32_t stream) { return add(OpKind::Psum, Issue::Sync, stream); }
  Ops& done(size_t start) {
    add(OpKind::Done, Issue::Sync, 0);
    program_.ops.back().operands = program_.ops[start].results;
    return *this;
  }
  Tape tape() const { return {program_, thread_, std::make_shared<const Iterations>(program_)}; }

 private:
  Ops& add(OpKind kind, Issue issue, uint32_t stream) {
    thread_.issue_order.emplace_back(program_.ops.size());
    Op& op = program_.ops.emplace_back();
    op.kind = kind;
    op.issue = issue;
    op.hints.stream = stream;
    op.results = {ValueId(program_.values.size())};
    program_.values.emplace_back();
    return *this;
  }

  Program program_;
  Thread thread_;
};

/// Returns a tape with these instructions: 0 starts op 0 on stream 3; 1 is local; 2 starts op 2 on
/// stream 5; 3 and 4 are op 3, sync, on stream 3; 5 is the done of op 0; 6 is the done of op 2.
Tape example() {
  return Ops().start(3).local().start(5).sync(3).done(0).done(2).tape();
}

/// Returns a tape with two starts and two dones, which both name the second start.
Tape done_twice() {
  return Ops().start(0).start(0).done(1).done(1).tape();
}

std::string causes(const Tape& tape, MomentKind kind, uint64_t position) {
  std::string text;
  for_each_cause(tape, {kind, position}, [&](Moment cause) {
    static constexpr const char* kNames[] = {"passed ", "entered ", "ended "};
    text += (text.empty() ? "" : ", ") + std::string(kNames[static_cast<size_t>(cause.kind)]) +
            std::to_string(cause.position);
    return true;
  });
  return text;
}

TEST_CASE("tape: an instruction is passed after the one before it") {
  const Tape order = example();
  CHECK(causes(order, MomentKind::Passed, 0).empty());
  CHECK(causes(order, MomentKind::Passed, 1) == "passed 0");
  CHECK(causes(order, MomentKind::Passed, 3) == "passed 2");
}

TEST_CASE("tape: a wait is passed after the end of the collective that it names") {
  const Tape order = example();
  CHECK(causes(order, MomentKind::Passed, 4) == "passed 3, ended 3");
  CHECK(causes(order, MomentKind::Passed, 5) == "passed 4, ended 0");
  CHECK(causes(order, MomentKind::Passed, 6) == "passed 5, ended 2");
}

TEST_CASE("tape: a collective is entered after the one before it on its stream has ended") {
  const Tape order = example();
  CHECK(causes(order, MomentKind::Entered, 0) == "passed 0");
  CHECK(causes(order, MomentKind::Entered, 2) == "passed 2");
  CHECK(causes(order, MomentKind::Entered, 3) == "passed 3, ended 0");
  CHECK(causes(order, MomentKind::Ended, 3) == "entered 3");
}

TEST_CASE("tape: the enumeration stops where the visitor says so") {
  const Tape tape = example();
  uint32_t visits = 0;
  CHECK_FALSE(for_each_cause(tape, {MomentKind::Passed, 5}, [&](Moment) {
    ++visits;
    return false;
  }));
  CHECK(visits == 1);
}

TEST_CASE("tape: finds the instructions of one collective") {
  const Tape order = example();
  CHECK(order.streams() == 2);
  CHECK(order.enters(0) == 2);
  CHECK(order.index_on_stream(3) == 1);
  CHECK(order.stream_at(2) == 1);
  CHECK(order.enter_of(5) == 0);
  CHECK(first_waits(order)[0] == 5U);
}

TEST_CASE("tape: a collective that nothing waits for, and one that two waits name") {
  const auto waits = first_waits(done_twice());
  CHECK(waits[0] == std::nullopt);
  CHECK(waits[1] == 2U);
}

TEST_CASE("tape: a sync op has two instructions, any other one") {
  const Tape order = example();
  std::vector<uint32_t> firsts;
  for (uint32_t i = 0; i < order.size(); ++i)
    if (order.begins_op(i))
      firsts.push_back(i);
  CHECK(firsts == std::vector<uint32_t>{0, 1, 2, 3, 5, 6});
}

TEST_CASE("tape: each op ends with one moment, a collective with its end") {
  const Tape order = example();
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

TEST_CASE("tape: a start uses its tensors until its first done, or to the end") {
  const Tape tape = example();
  CHECK(ends_of_use(tape) == std::vector<uint32_t>{4, 1, 5, 3, 4, 5});
  CHECK(ends_of_use(done_twice()) == std::vector<uint32_t>{4, 2, 2, 3});
}

}  // namespace
}  // namespace orrery::test
