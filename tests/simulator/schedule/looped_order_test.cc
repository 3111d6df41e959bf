// Compares the indices of items in loops with a list of all iterations.

#include "simulator/schedule/looped_order.h"

#include <limits>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/quantity.h"
#include "models/base/random.h"

namespace orrery {
namespace {

/// A `Nest` has loops around ops that follow each other.
class Nest {
 public:
  void op() { program_.ops.emplace_back(); }
  void begin(int64_t trips) {
    Loop loop;
    loop.upper = trips;
    loop.ops.begin = static_cast<uint32_t>(program_.ops.size());
    if (!open_.empty())
      loop.around = open_.back();
    open_.push_back(program_.loops.size());
    program_.loops.push_back(loop);
  }
  void end() {
    program_.loops[open_.back()].ops.end = static_cast<uint32_t>(program_.ops.size());
    open_.pop_back();
  }
  bool is_open() const { return !open_.empty(); }

  Iterations iterations() const { return Iterations(program_); }
  std::vector<LoopAround> loops() const {
    const Iterations iterations = this->iterations();
    std::vector<LoopAround> loops;
    for (size_t op = 0; op < program_.ops.size(); ++op)
      loops.push_back(iterations.loop_of(OpId(op)));
    return loops;
  }

  /// Returns each op as often as it runs.
  std::vector<LoopedOrder::Item> written() const {
    std::vector<LoopedOrder::Item> all;
    std::vector<uint64_t> runs(program_.ops.size());
    write(std::nullopt, 0, static_cast<uint32_t>(program_.ops.size()), runs, all);
    return all;
  }

 private:
  void write(std::optional<size_t> around, uint32_t begin, uint32_t end,
             std::vector<uint64_t>& runs, std::vector<LoopedOrder::Item>& all) const {
    for (uint32_t op = begin; op < end;) {
      size_t l = 0;
      while (l < program_.loops.size() &&
             (program_.loops[l].around != around || !program_.loops[l].ops.has(op)))
        ++l;
      if (l == program_.loops.size()) {
        all.push_back({op, runs[op]++});
        ++op;
        continue;
      }
      const Loop& loop = program_.loops[l];
      for (int64_t i = loop.lower; i < loop.upper; ++i)
        write(l, loop.ops.begin, loop.ops.end, runs, all);
      op = loop.ops.end;
    }
  }

  Program program_;
  std::vector<size_t> open_;
};

TEST_CASE("looped order: without loops an index is the item") {
  Nest nest;
  nest.op();
  nest.op();
  const LoopedOrder order(nest.iterations(), nest.loops());
  CHECK(order.size() == 2);
  CHECK(order.at(1) == LoopedOrder::Item{1, 0});
  CHECK(order.index({1, 0}) == 1);
  CHECK(order.loops_at(1).empty());
  CHECK(order.next_iteration(0, [](uint32_t) { return true; }) == 2);
}

TEST_CASE("looped order: every item of random nests is where a list of all iterations has it") {
  orrery::Random random(7);
  for (int n = 0; n < 400; ++n) {
    Nest nest;
    for (uint64_t left = random.below(25); left > 0; --left) {
      const uint64_t what = random.below(4);
      if (what == 0)
        nest.begin(static_cast<int64_t>(random.below(4)) + 1);
      else if (what == 1 && nest.is_open())
        nest.end();
      else
        nest.op();
    }
    while (nest.is_open())
      nest.end();
    const std::vector<LoopedOrder::Item> written = nest.written();
    const LoopedOrder order(nest.iterations(), nest.loops());
    REQUIRE(order.size() == written.size());
    const Iterations iterations = nest.iterations();
    const auto has_two = [&](uint32_t loop) { return iterations.trips(loop) >= 2; };
    for (size_t i = 0; i < written.size(); ++i) {
      CHECK(order.at(i) == written[i]);
      CHECK(order.index(written[i]) == i);
      // This is the first index at which a loop of two trips or more begins another iteration.
      size_t next = i + 1;
      const auto begins = [&](size_t at) {
        for (const LoopedOrder::LoopRun& loop : order.loops_at(at))
          if (loop.begin < at && (at - loop.begin) % loop.length == 0)
            return true;
        return false;
      };
      while (next < written.size() && !begins(next))
        ++next;
      CHECK(order.next_iteration(i, has_two) == next);
      for (const LoopedOrder::LoopRun& loop : order.loops_at(i)) {
        CHECK(loop.has(i));
        // The same item is at the same place of each iteration.
        CHECK(order.at(loop.begin + (i - loop.begin) % loop.length).item == written[i].item);
      }
    }
  }
}

TEST_CASE(
    "looped order: the next iteration of a loop in later iterations of one that does not count") {
  Nest nest;
  nest.begin(3);
  nest.op();
  nest.begin(2);
  nest.op();
  nest.end();
  nest.end();
  const LoopedOrder order(nest.iterations(), nest.loops());
  const auto inner = [](uint32_t loop) { return loop == 1; };
  const std::vector<uint64_t> next = {2, 2, 5, 5, 5, 8, 8, 8, 9};
  REQUIRE(order.size() == next.size());
  for (size_t i = 0; i < next.size(); ++i)
    CHECK(order.next_iteration(i, inner) == next[i]);
}

TEST_CASE("looped order: trips cost nothing") {
  Nest nest;
  nest.begin(1'000'000'000);
  nest.begin(1'000'000);
  nest.op();
  nest.end();
  nest.op();
  nest.end();
  const LoopedOrder order(nest.iterations(), nest.loops());
  CHECK(order.size() == 1'000'001'000'000'000U);
  CHECK(order.at(order.size() - 1) == LoopedOrder::Item{1, 999'999'999});
  CHECK(order.at(order.size() - 2) == LoopedOrder::Item{0, 999'999'999'999'999});
  CHECK(order.next_iteration(order.size() - 4, [](uint32_t) { return true; }) == order.size() - 3);
}

TEST_CASE("looped order: more items than 2^63 are refused") {
  Nest nest;
  nest.begin(int64_t{1} << 32);
  nest.begin(int64_t{1} << 31);
  nest.op();
  nest.end();
  nest.end();
  CHECK_THROWS_AS(LoopedOrder(nest.iterations(), nest.loops()), Overflow);
  Nest wide;
  wide.begin(std::numeric_limits<int64_t>::max());
  wide.op();
  wide.op();
  wide.end();
  CHECK_THROWS_AS(LoopedOrder(wide.iterations(), wide.loops()), Overflow);
}

}  // namespace
}  // namespace orrery
