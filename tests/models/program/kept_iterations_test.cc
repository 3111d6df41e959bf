// Tests which iterations of a loop may be left out, which follows from the region: they repeat
// earlier iterations.

#include "models/program/kept_iterations.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/loops.h"
#include "models/program/unroll.h"
#include "tests/models/program/looping.h"
#include "tests/support/tries.h"

namespace orrery {
namespace {

using test::listing;
using test::Looping;
using test::op;
using test::RandomLoops;

/// Returns "first reach period" of the first loop.
std::string repeating(Looping& l) {
  const WrittenIterations of = repeating_iterations(l.finish()).front();
  return fmt::format("{} {} {}", of.first, of.reach, of.period);
}

TEST_CASE("kept iterations: what an iteration makes goes through a chain of carries") {
  // "p" holds the result of three iterations before. From the third iteration on, all begin alike.
  Looping l;
  l.begin("l", 0, 100, {{"p", "a"}, {"q", "a"}, {"r", "a"}});
  l.with(op("l[].y", "neg", {"l[].p"}));
  l.end({{"p", "l[].q"}, {"q", "l[].r"}, {"r", "l[].y"}});
  CHECK(repeating(l) == "7 3 1");
}

TEST_CASE("kept iterations: a value of outside is there from the first iteration on") {
  Looping l;
  l.begin("l", 0, 100, {{"p", "a"}, {"q", "a"}}).with(op("l[].y", "neg", {"l[].p"}));
  l.end({{"p", "l[].q"}, {"q", "a"}});
  CHECK(repeating(l) == "4 1 1");  // two until "p" is "a", one to repeat, one to reach
}

TEST_CASE("kept iterations: a ring has a period, also where a chain leads into it") {
  Looping l;
  l.with(op("b", "neg", {"a"}));
  l.begin("l", 0, 100, {{"p", "a"}, {"q", "b"}, {"r", "a"}}).with(op("l[].y", "neg", {"l[].r"}));
  l.end({{"p", "l[].q"}, {"q", "l[].p"}, {"r", "l[].p"}});
  CHECK(repeating(l) == "4 1 2");  // one until "r" is one of the ring
}

TEST_CASE("kept iterations: storage that is passed on counts like a value") {
  // Each iteration makes what it yields, in the storage of the other carry.
  Looping l;
  l.with(op("b", "neg", {"a"})).begin("l", 0, 100, {{"p", "a"}, {"q", "b"}});
  for (const auto& [to, from] : {std::pair("s", "p"), {"t", "q"}}) {
    const std::string name = fmt::format("l[].{}", to);
    l.with(op(name + "2", "reshape", {fmt::format("l[].{}", from)},
              {{"new_sizes", std::vector<int64_t>{4, 1}}}));
    l.with(op(name, "reshape", {name + "2"}, {{"new_sizes", std::vector<int64_t>{4}}}));
  }
  l.end({{"p", "l[].t"}, {"q", "l[].s"}});
  CHECK(repeating(l) == "4 1 2");
}

TEST_CASE("kept iterations: a loop in a loop passes on what its trips leave") {
  const auto with_trips = [](int64_t trips) {
    Looping l;
    l.with(op("b", "neg", {"a"})).begin("l", 0, 100, {{"p", "a"}, {"q", "b"}});
    l.begin("l[].m", 0, trips, {{"v", "l[].p"}, {"w", "l[].q"}});
    l.with(op("l[].m[].y", "neg", {"l[].m[].v"}));
    l.end({{"v", "l[].m[].w"}, {"w", "l[].m[].v"}});
    l.end({{"p", "l[].m.v"}, {"q", "l[].m.w"}});
    return repeating(l);
  };
  CHECK(with_trips(0) == "2 1 1");
  CHECK(with_trips(7) == "3 1 2");
  CHECK(with_trips(1'000'000) == "2 1 1");
}

TEST_CASE("kept iterations: one that the whole loop writes first may be left out of a part of it") {
  // The first 7 of 68 iterations are written, so that the left-out iterations are whole periods of
  // 3. The part up to iteration 23 needs only the first 5 iterations.
  Looping l;
  l.with(op("b", "neg", {"a"})).with(op("c", "neg", {"b"}));
  l.begin("l", 0, 68, {{"p", "a"}, {"q", "b"}, {"r", "c"}, {"h", "a"}});
  l.with(op("l[].y", "neg", {"l[].p"}));
  l.end({{"p", "l[].q"}, {"q", "l[].r"}, {"r", "l[].p"}, {"h", "l[].y"}});
  l.with(op("z", "sub", {"l[5].y", "l[23].y"}));
  const Program shortened = unrolled(l.finish(), LongLoops::LeftOut).program;
  CHECK(listing(shortened).lines.back() == "z = sub(l[5].y, l[23].y)");
  CHECK(leaves_out_iterations(shortened));
}

TEST_CASE("kept iterations: what an outer body reads of an inner loop is kept in each iteration") {
  Looping l;
  l.begin("l", 0, 100, {{"h", "a"}}).begin("l[].m", 0, 100, {{"g", "l[].h"}});
  l.with(op("l[].m[].y", "neg", {"l[].m[].g"})).end({{"g", "l[].m[].y"}});
  l.with(op("l[].z", "sub", {"l[].m[40].y", "l[].m[60].y"})).end({{"h", "l[].z"}});
  const Program shortened = unrolled(l.finish(), LongLoops::LeftOut).program;
  CHECK(leaves_out_iterations(shortened));
  size_t read = 0;
  for (const Op& op : shortened.ops)
    if (op.kind == OpKind::Sub) {
      const std::string outer = op.name.substr(0, op.name.find(']') + 1);
      CHECK(shortened.value(op.operands[0]).name == outer + ".m[40].y");
      CHECK(shortened.value(op.operands[1]).name == outer + ".m[60].y");
      ++read;
    }
  CHECK(read == shortened.written_loops.back().written.size());
}

TEST_CASE("kept iterations: loops of one thread have periods of their own") {
  Looping l;
  l.with(op("b", "neg", {"a"})).begin("l", 0, 100, {{"p", "a"}, {"q", "b"}});
  l.with(op("l[].y", "neg", {"l[].p"})).end({{"p", "l[].q"}, {"q", "l[].p"}});
  l.begin("m", 0, 100, {{"p", "a"}, {"q", "b"}, {"r", "a"}}).with(op("m[].y", "neg", {"m[].p"}));
  l.end({{"p", "m[].q"}, {"q", "m[].r"}, {"r", "m[].p"}});
  const Program shortened = unrolled(l.finish(), LongLoops::LeftOut).program;
  CHECK(shortened.written_loops.at(0).period == 2);
  CHECK(shortened.written_loops.at(1).period == 3);
}

TEST_CASE("kept iterations: a body with very many loops in a row needs no stack for them") {
  Looping l;
  l.begin("l", 0, 100, {{"h", "a"}});
  std::string from = "l[].h";
  // A frame of the stack is larger under sanitizers.
  const int loops = test::is_all_tried() ? 60'000 : 20'000;
  for (int i = 0; i < loops; ++i) {
    const std::string name = fmt::format("l[].m{}", i);
    l.begin(name, 0, 2, {{"g", from}}).end({{"g", name + "[].g"}});
    from = name + ".g";
  }
  l.end({{"h", from}});
  CHECK(repeating(l) == "2 1 1");
}

/// Returns where a value or a buffer is for an iteration: at an index in this or an earlier
/// iteration, or else its own id.
std::pair<size_t, size_t> located(const WrittenLoop& loop, IdRange LoopIteration::*ids, size_t from,
                                  size_t id) {
  for (size_t w = 0; w <= from; ++w)
    if ((loop.written[w].*ids).has(id))
      return {from - w + 1, id - (loop.written[w].*ids).begin};
  return {0, id};
}

TEST_CASE("kept iterations: each iteration that may be left out equals the one a period later") {
  size_t compared = 0;
  for (uint64_t seed = 0; seed < test::tries(300); ++seed) {
    CAPTURE(seed);
    const Program flat = unrolled(RandomLoops(seed).make(), LongLoops::WrittenOut).program;
    for (const WrittenLoop& loop : flat.written_loops) {
      if (loop.kept_last == 0)
        continue;
      for (size_t w = loop.kept_first - loop.reach(); w + loop.period < loop.written.size(); ++w) {
        const size_t later = w + loop.period;
        const IdRange ops = loop.written[w].ops;
        REQUIRE(loop.written[later].ops.size() == ops.size());
        for (uint32_t i = 0; i < ops.size(); ++i) {
          const Op& one = flat.ops[ops.begin + i];
          const Op& other = flat.ops[loop.written[later].ops.begin + i];
          REQUIRE(one.kind == other.kind);
          for (size_t o = 0; o < one.operands.size(); ++o) {
            const ValueId a = one.operands[o];
            const ValueId b = other.operands[o];
            ++compared;
            // A body may read a value of its first iteration.
            const bool same_place =
                located(loop, &LoopIteration::values, w, a.index()) ==
                    located(loop, &LoopIteration::values, later, b.index()) &&
                located(loop, &LoopIteration::buffers, w, flat.value(a).buffer.index()) ==
                    located(loop, &LoopIteration::buffers, later, flat.value(b).buffer.index());
            REQUIRE((a == b || same_place));
          }
        }
      }
    }
  }
  CHECK(compared > test::tries(1000));
}

}  // namespace
}  // namespace orrery
