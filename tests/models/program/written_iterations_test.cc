// Tests which iterations of a loop may be left out, which follows from the region: they repeat
// earlier iterations.

#include "models/program/written_iterations.h"

#include <algorithm>
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
  const Recurrence of = recurrences(l.finish()).front();
  return fmt::format("{} {} {}", of.first(), of.reach, of.period);
}

TEST_CASE("written iterations: what an iteration makes goes through a chain of carries") {
  // "p" holds the result of three iterations before. From the third iteration on, all begin alike.
  Looping l;
  l.begin("l", 0, 100, {{"p", "a"}, {"q", "a"}, {"r", "a"}});
  l.with(op("l[].y", "neg", {"l[].p"}));
  l.end({{"p", "l[].q"}, {"q", "l[].r"}, {"r", "l[].y"}});
  CHECK(repeating(l) == "7 3 1");
}

TEST_CASE("written iterations: a value of outside is there from the first iteration on") {
  Looping l;
  l.begin("l", 0, 100, {{"p", "a"}, {"q", "a"}}).with(op("l[].y", "neg", {"l[].p"}));
  l.end({{"p", "l[].q"}, {"q", "a"}});
  CHECK(repeating(l) == "4 1 1");  // two until "p" is "a", one to repeat, one to reach
}

TEST_CASE("written iterations: a ring has a period, also where a chain leads into it") {
  Looping l;
  l.with(op("b", "neg", {"a"}));
  l.begin("l", 0, 100, {{"p", "a"}, {"q", "b"}, {"r", "a"}}).with(op("l[].y", "neg", {"l[].r"}));
  l.end({{"p", "l[].q"}, {"q", "l[].p"}, {"r", "l[].p"}});
  CHECK(repeating(l) == "4 1 2");  // one until "r" is one of the ring
}

TEST_CASE("written iterations: storage that is passed on counts like a value") {
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

TEST_CASE("written iterations: a loop in a loop passes on what its trips leave") {
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

TEST_CASE(
    "written iterations: one that the whole loop writes first may be left out of a part of it") {
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

TEST_CASE(
    "written iterations: what an outer body reads of an inner loop is kept in each iteration") {
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

TEST_CASE("written iterations: loops of one thread have periods of their own") {
  Looping l;
  l.with(op("b", "neg", {"a"})).begin("l", 0, 100, {{"p", "a"}, {"q", "b"}});
  l.with(op("l[].y", "neg", {"l[].p"})).end({{"p", "l[].q"}, {"q", "l[].p"}});
  l.begin("m", 0, 100, {{"p", "a"}, {"q", "b"}, {"r", "a"}}).with(op("m[].y", "neg", {"m[].p"}));
  l.end({{"p", "m[].q"}, {"q", "m[].r"}, {"r", "m[].p"}});
  const Program shortened = unrolled(l.finish(), LongLoops::LeftOut).program;
  CHECK(shortened.written_loops.at(0).period == 2);
  CHECK(shortened.written_loops.at(1).period == 3);
}

TEST_CASE("written iterations: a body with very many loops in a row needs no stack for them") {
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

TEST_CASE("written iterations: each one that may be left out equals the one a period before") {
  size_t compared = 0;
  for (uint64_t seed = 0; seed < test::tries(300); ++seed) {
    CAPTURE(seed);
    const Program flat = unrolled(RandomLoops(seed).make(), LongLoops::WrittenOut).program;
    for (const WrittenLoop& loop : flat.written_loops) {
      const auto hidden = std::ranges::find(loop.written, false, &LoopIteration::is_shown);
      if (hidden == loop.written.end())
        continue;
      // Values of the `reach` iterations before stand for values of those left out.
      const auto first = static_cast<size_t>(hidden - loop.written.begin()) - loop.reach;
      for (size_t w = first; w < loop.written.size(); ++w) {
        const size_t before = w - loop.period;
        const IdRange ops = loop.written[w].ops;
        REQUIRE(loop.written[before].ops.size() == ops.size());
        for (uint32_t i = 0; i < ops.size(); ++i) {
          const Op& one = flat.ops[loop.written[before].ops.begin + i];
          const Op& other = flat.ops[ops.begin + i];
          REQUIRE(one.kind == other.kind);
          for (size_t o = 0; o < one.operands.size(); ++o) {
            const ValueId a = one.operands[o];
            const ValueId b = other.operands[o];
            ++compared;
            // A body may read a value of its first iteration.
            const bool same_place =
                located(loop, &LoopIteration::values, before, a.index()) ==
                    located(loop, &LoopIteration::values, w, b.index()) &&
                located(loop, &LoopIteration::buffers, before, flat.value(a).buffer.index()) ==
                    located(loop, &LoopIteration::buffers, w, flat.value(b).buffer.index());
            REQUIRE((a == b || same_place));
          }
        }
      }
    }
  }
  CHECK(compared > test::tries(1000));
}

/// Returns the ranges of the first loop: "0-1 2x94 97-99" for iterations 0 and 1, 2 with 94 copies,
/// and 97 to 99.
std::string ranges(Looping& l) {
  const std::vector<WrittenIterations> written = written_iterations(l.finish());
  std::string text;
  for (const WrittenRange& range : written.front().ranges)
    text += fmt::format("{}{}{}{}", text.empty() ? "" : " ", range.begin,
                        range.end - range.begin > 1 ? fmt::format("-{}", range.end - 1) : "",
                        range.copies > 0 ? fmt::format("x{}", range.copies) : "");
  return text;
}

TEST_CASE("written iterations: the first, the last, and between them each that an exit reads") {
  const auto written = [](const std::string& named) {
    Looping l;
    l.begin("l", 0, 100, {{"h", "a"}}).with(op("l[].y", "neg", {"l[].h"}));
    l.end({{"h", "l[].y"}});
    if (!named.empty())
      l.with(op("z", "neg", {named}));
    return ranges(l);
  };
  // One is before the repetition, one is read by the next, and the next has the copies. At the end
  // one reads what those left out made, and the last one makes what is read after the loop.
  CHECK(written("") == "0-1 2x95 98-99");
  CHECK(written("l[0].y") == "0-1 2x95 98-99");
  CHECK(written("l[50].y") == "0-1 2x45 48-49 50 51-52 53x44 98-99");
  CHECK(written("l[98].y") == "0-1 2x93 96-97 98 99");
  CHECK(written("l[99].y") == "0-1 2x95 98-99");
}

TEST_CASE("written iterations: the period's iterations have as many copies each") {
  Looping l;
  l.with(op("b", "neg", {"a"})).begin("l", 10, 111, {{"p", "a"}, {"q", "b"}});
  l.with(op("l[].y", "neg", {"l[].p"})).end({{"p", "l[].q"}, {"q", "l[].p"}});
  // The last 3 of 101 iterations are written, and the first 4, so that 94 are left out.
  CHECK(ranges(l) == "10-11 12-13x47 108-110");
}

}  // namespace
}  // namespace orrery
