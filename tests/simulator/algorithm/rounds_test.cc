#include "simulator/algorithm/rounds.h"

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

namespace orrery {
namespace {

TEST_CASE("rounds: a run is cut to messages of the largest size, and the rest") {
  const Slice run{Area::Scratch, 10, 7};
  CHECK(messages_of(run.count, 3) == 3);
  CHECK(message_of(run, 3, 0) == Slice{Area::Scratch, 10, 3});
  CHECK(message_of(run, 3, 2) == Slice{Area::Scratch, 16, 1});
  CHECK(message_of(run, 3, 3).count == 0);
  CHECK(messages_of(7, 7) == 1);
  CHECK(messages_of(0, 7) == 1);
  CHECK(messages_of(7, 0) == 1);
  CHECK(message_of(run, 0, 0) == run);
}

TEST_CASE("rounds: a rank sends one message a slot, then by turns, and receives the rest") {
  // Steps are written as signed numbers of messages, counted from 1: a send is positive.
  const auto steps = [](uint32_t messages, uint32_t slots) {
    const Round round(5, messages, slots);
    std::vector<int> all;
    for (uint32_t step = 5; step < round.end(); ++step) {
      const Round::Turn turn = round.turn(step);
      all.push_back(static_cast<int>(turn.message + 1) * (turn.sends ? 1 : -1));
    }
    return all;
  };
  CHECK(steps(1, 2) == std::vector<int>{1, -1});
  CHECK(steps(2, 2) == std::vector<int>{1, 2, -1, -2});
  CHECK(steps(3, 1) == std::vector<int>{1, -1, 2, -2, 3, -3});
  CHECK(steps(5, 2) == std::vector<int>{1, 2, -1, 3, -2, 4, -3, 5, -4, -5});
}

TEST_CASE("rounds: each step has its message, and looks back as far as the round says") {
  for (uint32_t messages = 1; messages <= 9; ++messages)
    for (uint32_t slots = 1; slots <= 9; ++slots) {
      const Round round(3, messages, slots);
      uint32_t lookback = 0;
      for (uint32_t m = 0; m < messages; ++m) {
        CHECK(round.turn(round.send(m)).sends);
        CHECK(round.turn(round.send(m)).message == m);
        CHECK_FALSE(round.turn(round.receive(m)).sends);
        CHECK(round.turn(round.receive(m)).message == m);
        CHECK(round.send(m) < round.receive(m));
        lookback = std::max(lookback, round.receive(m) - round.send(m));
        if (m >= slots)
          CHECK(round.receive(m - slots) < round.send(m));
      }
      CHECK(round.lookback() == lookback);
    }
}

}  // namespace
}  // namespace orrery
