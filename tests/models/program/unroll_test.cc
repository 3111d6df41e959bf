// Tests regions and their iterations: which value each iteration reads, for loops that carry
// values, nest, and have named iterations.

#include "models/program/unroll.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/program/iteration_name.h"
#include "models/program/loops.h"
#include "models/program/rules.h"
#include "tests/models/program/looping.h"

namespace orrery {
namespace {

using test::at_site;
using test::Building;
using test::devices;
using test::Lines;
using test::listing;
using test::Looping;
using test::Names;
using test::op;
using test::RandomLoops;

Lines written(Looping& looping) {
  return listing(unrolled(looping.finish(), LongLoops::WrittenOut).program);
}

TEST_CASE("unroll: a body stands in the program once, and reads what loops carry") {
  Looping l;
  l.begin("l", 0, 3, {{"h", "a"}}).with(op("l[].y", "neg", {"l[].h"})).end({{"h", "l[].y"}});
  l.with(op("z", "neg", {"l.h"}));
  const Program region = l.finish();
  CHECK(listing(region) == Lines{"l[].y = neg(l[].h)", "z = neg(l.h)"});
  REQUIRE(region.loops.size() == 1);
  CHECK(region.loops[0].ops.size() == 1);
  const Program flat = unrolled(region, LongLoops::WrittenOut).program;
  CHECK(flat.loops.empty());
  CHECK(listing(flat) == Lines{"l[0].y = neg(a)", "l[1].y = neg(l[0].y)", "l[2].y = neg(l[1].y)",
                               "z = neg(l[2].y)"});
  CHECK(flat.value(flat.other_names.at("l.h")).name == "l[2].y");
}

TEST_CASE("unroll: each op is a run of an op of a body, and says which") {
  Looping l;
  l.with(op("b", "neg", {"a"})).begin("l", 5, 7, {{"h", "b"}});
  l.begin("l[].m", -1, 2, {{"g", "l[].h"}}).with(op("l[].m[].u", "neg", {"l[].m[].g"}));
  l.end({{"g", "l[].m[].u"}}).with(op("l[].y", "neg", {"l[].m.g"})).end({{"h", "l[].y"}});
  const Program region = l.finish();
  const Unrolled all = unrolled(region, LongLoops::WrittenOut);
  Lines runs;
  for (const OpRun& run : all.runs)
    runs.lines.push_back(fmt::format("{} {}", region.op(run.op).name, run.iteration));
  CHECK(runs == Lines{"b 0", "l[].m[].u 0", "l[].m[].u 1", "l[].m[].u 2", "l[].y 0", "l[].m[].u 3",
                      "l[].m[].u 4", "l[].m[].u 5", "l[].y 1"});
  const ValueId after = values_by_name(region).at("l.h");
  CHECK(all.program.value(all.values[after.index()].value()).name == "l[6].y");
}

TEST_CASE("unroll: carries that stay, change places, or go round") {
  const auto after = [](int64_t trips, const Looping::Carries& yields) {
    Looping l;
    l.with(op("b", "neg", {"a"})).with(op("c", "neg", {"b"}));
    l.begin("l", 0, trips, {{"p", "a"}, {"q", "b"}, {"r", "c"}}).end(yields);
    Program region = l.builder.finish();
    std::string names;
    const Program flat = unrolled(region, LongLoops::WrittenOut).program;
    for (const char* carry : {"l.p", "l.q", "l.r"})
      names += flat.value(flat.other_names.at(carry)).name;
    return names;
  };
  const Looping::Carries stay = {{"p", "l[].p"}, {"q", "l[].q"}, {"r", "l[].r"}};
  const Looping::Carries swap = {{"p", "l[].q"}, {"q", "l[].p"}, {"r", "l[].r"}};
  const Looping::Carries round = {{"p", "l[].q"}, {"q", "l[].r"}, {"r", "l[].p"}};
  const Looping::Carries pushed = {{"p", "l[].q"}, {"q", "l[].r"}, {"r", "a"}};
  CHECK(after(0, swap) == "abc");
  CHECK(after(5, stay) == "abc");
  CHECK(after(4, swap) == "abc");
  CHECK(after(5, swap) == "bac");
  CHECK(after(3, round) == "abc");
  CHECK(after(4, round) == "bca");
  CHECK(after(5, round) == "cab");
  CHECK(after(1, pushed) == "bca");
  CHECK(after(2, pushed) == "caa");
  CHECK(after(9, pushed) == "aaa");
}

/// Returns a loop of `trips` iterations over "b", "c" and "d", the initial values of carries p, q
/// and r.
Program going_round(int64_t trips, const Looping::Carries& yields) {
  Looping l;
  for (const auto& [name, of] : {std::pair("b", "a"), {"c", "b"}, {"d", "c"}})
    l.with(op(name, "neg", {of}));
  l.begin("l", 0, trips, {{"p", "b"}, {"q", "c"}, {"r", "d"}});
  l.with(op("l[].y", "sub", {"l[].p", "l[].q"})).end(yields);
  l.with(op("z", "sub", {"l.p", "l.q"}));
  return l.finish();
}

TEST_CASE("unroll: where carries go round, iterations are left out in whole periods") {
  const Looping::Carries swap = {{"p", "l[].q"}, {"q", "l[].p"}, {"r", "l[].r"}};
  const Looping::Carries round = {{"p", "l[].q"}, {"q", "l[].r"}, {"r", "l[].p"}};
  for (const auto& [yields, period] : {std::pair(swap, 2U), std::pair(round, 3U)}) {
    for (int64_t trips = 100; trips < 106; ++trips) {
      CAPTURE(trips);
      const Program region = going_round(trips, yields);
      const Lines all = listing(unrolled(region, LongLoops::WrittenOut).program);
      const Program shortened = unrolled(region, LongLoops::LeftOut).program;
      const WrittenLoop& loop = shortened.written_loops.at(0);
      CHECK(loop.period == period);
      CHECK(loop.left_out() % period == 0);
      CHECK(loop.left_out() > 80);
      const size_t behind = loop.written.size() - (period + 1);
      CHECK(loop.left_out_before(behind) == loop.left_out());
      const Lines lines = listing(shortened);
      for (size_t line = 0; line < lines.lines.size(); ++line)
        CHECK(lines.lines[line] == all.lines[line + (line < 3 + behind ? 0 : loop.left_out())]);
      const std::vector<uint64_t> times = repetitions(shortened);
      for (size_t w = 0; w < loop.written.size(); ++w)
        CHECK(times[loop.written[w].ops.begin] ==
              (w + period < behind || behind <= w ? 1 : 1 + loop.left_out() / period));
    }
  }
}

TEST_CASE("unroll: carries that go round in several circles come round together") {
  // The circles have 2, 3, 5 and 7 carries. After 210 iterations each carry has its initial value.
  Looping l;
  Looping::Carries carries;
  Looping::Carries yields;
  for (const int size : {2, 3, 5, 7})
    for (int c = 0; c < size; ++c) {
      const std::string initial = fmt::format("v{}_{}", size, c);
      l.with(op(initial, "neg", {"a"}));
      carries.emplace_back(fmt::format("c{}_{}", size, c), initial);
      yields.emplace_back(carries.back().first, fmt::format("l[].c{}_{}", size, (c + 1) % size));
    }
  l.begin("l", 0, 1'000'000, carries).with(op("l[].y", "neg", {"l[].c2_0"})).end(yields);
  const Program shortened = unrolled(l.finish(), LongLoops::LeftOut).program;
  CHECK(shortened.written_loops.at(0).period == 210);
  CHECK(shortened.value(shortened.other_names.at("l.c7_0")).name ==
        fmt::format("v7_{}", 1'000'000 % 7));
}

TEST_CASE("unroll: a value of the first iteration may be carried through all others") {
  Looping l;
  l.begin("l", 0, 1000, {{"h", "a"}, {"g", "a"}}).with(op("l[].y", "neg", {"l[].g"}));
  l.with(op("l[].r", "reshape", {"l[0].y"}, {{"new_sizes", std::vector<int64_t>{4, 1}}}));
  l.with(op("l[].t", "reshape", {"l[].r"}, {{"new_sizes", std::vector<int64_t>{4}}}));
  l.end({{"h", "l[].t"}, {"g", "l[0].y"}}).with(op("z", "sub", {"l.h", "l.g"}));
  const Program shortened = unrolled(l.finish(), LongLoops::LeftOut).program;
  CHECK(shortened.written_loops.at(0).left_out() > 980);
  CHECK(listing(shortened).lines.back() == "z = sub(l[999].t, l[0].y)");
}

TEST_CASE("unroll: without iterations a loop gives what it began with, and has no ops") {
  Looping l;
  l.begin("l", 2, 2, {{"h", "a"}}).end({{"h", "l[].h"}}).with(op("z", "neg", {"l.h"}));
  const Program flat = unrolled(l.finish(), LongLoops::WrittenOut).program;
  CHECK(listing(flat) == Lines{"z = neg(a)"});
  CHECK(flat.empty_loops == std::vector<std::string>{"l"});
}

TEST_CASE("unroll: of loops in loops each iteration begins with what the outer one carries") {
  Looping l;
  l.begin("l", 0, 2, {{"h", "a"}}).begin("l[].m", 5, 7, {{"g", "l[].h"}});
  l.with(op("l[].m[].u", "add", {"l[].m[].g", "l[].h"})).end({{"g", "l[].m[].u"}});
  l.with(op("l[].y", "neg", {"l[].m.g"})).end({{"h", "l[].y"}}).with(op("z", "neg", {"l.h"}));
  CHECK(written(l) == Lines{"l[0].m[5].u = add(a, a)", "l[0].m[6].u = add(l[0].m[5].u, a)",
                            "l[0].y = neg(l[0].m[6].u)", "l[1].m[5].u = add(l[0].y, l[0].y)",
                            "l[1].m[6].u = add(l[1].m[5].u, l[0].y)", "l[1].y = neg(l[1].m[6].u)",
                            "z = neg(l[1].y)"});
}

TEST_CASE("unroll: a loop that only holds a loop without ops") {
  Looping l;
  l.with(op("b", "neg", {"a"})).begin("l", 0, 3, {{"p", "a"}, {"q", "b"}});
  l.begin("l[].m", 0, 1, {{"v", "l[].p"}, {"w", "l[].q"}});
  l.end({{"v", "l[].m[].w"}, {"w", "l[].m[].v"}}).end({{"p", "l[].m.v"}, {"q", "l[].m.w"}});
  l.with(op("z", "sub", {"l.p", "l.q"}));
  const Program flat = unrolled(l.finish(), LongLoops::WrittenOut).program;
  CHECK(listing(flat) == Lines{"b = neg(a)", "z = sub(b, a)"});
  CHECK(flat.empty_loops == std::vector<std::string>{"l[0].m", "l[1].m", "l[2].m", "l"});
}

TEST_CASE("unroll: values of single iterations are read outside, each an exit") {
  Looping l;
  l.begin("l", 0, 9, {{"h", "a"}}).begin("l[].m", 0, 3, {{"g", "l[].h"}});
  l.with(op("l[].m[].u", "neg", {"l[].m[].g"})).end({{"g", "l[].m[].u"}});
  l.end({{"h", "l[].m.g"}});
  l.with(op("z", "add", {"l[4].m[1].u", "l[4].m.g"})).with(op("v", "neg", {"l[4].m[1].u"}));
  const Program region = l.finish();
  REQUIRE(region.loops.size() == 2);
  CHECK(region.loops[0].exits.size() == 2);
  CHECK(region.loops[1].exits.size() == 1);
  CHECK(region.value(region.loops[1].exits[0].outside).name == "l[].m[1].u");
  CHECK(region.ops.back().operands == std::vector{region.loops[0].exits[0].outside});
  const Lines lines = listing(unrolled(region, LongLoops::WrittenOut).program);
  CHECK(lines.lines[27] == "z = add(l[4].m[1].u, l[4].m[2].u)");
  CHECK(lines.lines[28] == "v = neg(l[4].m[1].u)");
}

TEST_CASE("unroll: a body may read what its first iteration has made by then") {
  Looping l;
  l.begin("l", 3, 6, {{"h", "a"}}).with(op("l[].y", "neg", {"l[].h"}));
  l.with(op("l[].t", "add", {"l[3].y", "l[].y"})).end({{"h", "l[].t"}});
  CHECK(written(l) == Lines{"l[3].y = neg(a)", "l[3].t = add(l[3].y, l[3].y)",
                            "l[4].y = neg(l[3].t)", "l[4].t = add(l[3].y, l[4].y)",
                            "l[5].y = neg(l[4].t)", "l[5].t = add(l[3].y, l[5].y)"});
  Looping later;
  later.begin("l", 3, 6, {}).with(op("l[].y", "neg", {"a"}));
  later.with(op("l[].t", "add", {"l[4].y", "l[].y"})).end({});
  CHECK_THROWS_WITH_AS(later.finish(), doctest::Contains("got \"l[4].y\""), InputError);
}

TEST_CASE("unroll: a started collective is carried to the iteration that ends it") {
  const auto start = [](const std::string& name, const std::string& of) {
    return op(name, "psum_start", {of}, {{"axis_name", Names{"x"}}});
  };
  Looping l(Checks::Shapes);
  l.with(start("f", "a")).begin("l", 0, 3, {{"h", "f"}}).with(op("l[].d", "done", {"l[].h"}));
  l.with(start("l[].s", "l[].d")).end({{"h", "l[].s"}}).with(op("z", "done", {"l.h"}));
  CHECK(written(l) == Lines{"f = psum_start(a)", "l[0].d = done(f)", "l[0].s = psum_start(l[0].d)",
                            "l[1].d = done(l[0].s)", "l[1].s = psum_start(l[1].d)",
                            "l[2].d = done(l[1].s)", "l[2].s = psum_start(l[2].d)",
                            "z = done(l[2].s)"});
}

TEST_CASE("unroll: what shares a carry's storage lies in that of the iteration before") {
  Looping l;
  l.begin("l", 0, 2, {{"h", "a"}});
  OpRequest split = op("l[].p", "split", {"l[].h"}, {{"sizes", std::vector<int64_t>{1, 3}}});
  split.other_results = {"l[].q"};
  l.with(std::move(split));
  l.with(op("l[].r", "reshape", {"l[].q"}, {{"new_sizes", std::vector<int64_t>{3, 1}}}));
  l.with(op("l[].y", "concatenate", {"l[].q", "l[].p"}, {{"dimension", int64_t{0}}}));
  l.end({{"h", "l[].y"}});
  const Program flat = unrolled(l.finish(), LongLoops::WrittenOut).program;
  const auto value = [&](std::string_view name) {
    return flat.value(values_by_name(flat).at(name));
  };
  CHECK(value("l[0].r").buffer == value("l[0].q").buffer);
  CHECK(value("l[1].r").buffer == value("l[1].q").buffer);
  CHECK(value("l[1].r").offset == value("l[1].q").offset);
  CHECK(value("l[1].q").buffer != value("l[0].q").buffer);
}

TEST_CASE("unroll: without checks a carry has the states that fit all iterations") {
  Looping l(Checks::Shapes);
  l.with(op("s", "psum", {"a"}, {{"axis_name", Names{"x"}}}));
  l.begin("l", 0, 4, {{"h", "s"}, {"g", "s"}}).with(op("l[].y", "neg", {"l[].h"}));
  l.with(op("l[].t", "add", {"l[].g", "a"})).end({{"h", "l[].g"}, {"g", "l[].t"}});
  l.with(op("z", "neg", {"l.h"}));
  const Program region = l.finish();
  for (const Value& value : region.values)
    CHECK((value.type.axes[0] == AxisState::Varying) == (value.name != "s"));
}

TEST_CASE("unroll: loops that meet may have different iterations") {
  // The groups have axes of their own devices only, so the third and fourth iterations of "q" meet
  // no other thread.
  Building two(Mesh({{"stage", 2}, {"x", 2}}), Checks::Shapes);
  for (const auto& [name, first, trips] :
       {std::tuple("p", 0U, int64_t{2}), std::tuple("q", 2U, int64_t{4})}) {
    two.thread(name, devices(first, first + 2));
    two.builder.begin_loop(name, 0, trips, std::nullopt);
    two.add(at_site(op(fmt::format("{}[].s", name), "psum", {"a"}, {{"axis_name", Names{"x"}}}),
                    "all[]"));
    two.builder.end_loop({}, {});
  }
  const Program flat = unrolled(two.finish(), LongLoops::WrittenOut).program;
  REQUIRE(flat.sites.size() == 4);
  CHECK(flat.sites[1].name == "all[1]");
  CHECK(flat.sites[1].groups == std::vector<Group>{devices(0, 2), devices(2, 4)});
  CHECK(flat.sites[3].groups == std::vector<Group>{devices(2, 4)});
}

TEST_CASE("unroll: members are absent in the iterations that only some threads have") {
  Building two(Mesh({{"stage", 2}, {"x", 2}}), Checks::Shapes);
  for (const auto& [name, first, trips] :
       {std::tuple("p", 0U, int64_t{2}), std::tuple("q", 2U, int64_t{3})}) {
    two.thread(name, devices(first, first + 2));
    two.builder.begin_loop(name, 0, trips, std::nullopt);
    two.add(at_site(
        op(fmt::format("{}[].s", name), "psum", {"a"}, {{"axis_name", Names{"stage", "x"}}}),
        "all[]"));
    two.builder.end_loop({}, {});
  }
  const Program flat = unrolled(two.finish(), LongLoops::LeftOut).program;
  REQUIRE(flat.sites.size() == 3);
  CHECK(flat.sites[1].absent.empty());
  CHECK(flat.sites[2].name == "all[2]");
  CHECK(flat.sites[2].absent == std::vector<GroupMember>{{0, 0}, {0, 1}});
}

TEST_CASE("unroll: a size that is not allowed is told before it is reached") {
  Looping l;
  l.begin("l", 0, 1000, {}).with(op("l[].y", "neg", {"a"})).end({});
  const Program region = l.finish();
  const auto most = [&](int64_t ops, LongLoops long_loops) {
    Diagnostics diagnostics("f");
    const auto allow = [&](const WrittenSize& size) {
      return size.ops > ops ? fmt::format("{} ops", size.ops) : std::string();
    };
    return unrolled(region, long_loops, {}, allow, diagnostics).has_value();
  };
  CHECK(most(20, LongLoops::LeftOut));
  CHECK_FALSE(most(1000, LongLoops::WrittenOut));
  CHECK(most(1001, LongLoops::WrittenOut));
}

/// A `Meaning` names the value that a region's value stands for in given iterations. It works
/// backwards from the end: the iteration before says what a param is. `indices` has the indices of
/// the loops around the reader.
class Meaning {
 public:
  explicit Meaning(const Program& region) : region_(region), loop_of_(region.values.size()) {
    for (size_t l = 0; l < region.loops.size(); ++l) {
      const Loop& loop = region.loops[l];
      for (const Carry& carry : loop.carries) {
        params_[carry.param] = {l, &carry};
        results_[carry.result] = {l, &carry};
        loop_of_[carry.param.index()] = l;
        loop_of_[carry.result.index()] = loop.around;
      }
      for (const Exit& exit : loop.exits) {
        exits_[exit.outside] = {l, &exit};
        loop_of_[exit.outside.index()] = loop.around;
      }
      for (uint32_t op = loop.ops.begin; op < loop.ops.end; ++op)  // inner loops come later
        for (const ValueId result : region.ops[op].results)
          loop_of_[result.index()] = l;
    }
  }

  std::string of(ValueId value, std::map<size_t, int64_t> indices) const {
    if (const auto param = params_.find(value); param != params_.end()) {
      const auto& [l, carry] = param->second;
      if (indices.at(l)-- > region_.loops[l].lower)
        return of(carry->yielded, std::move(indices));
      indices.erase(l);
      return of(carry->initial, std::move(indices));
    }
    if (const auto result = results_.find(value); result != results_.end()) {
      const auto& [l, carry] = result->second;
      const Loop& loop = region_.loops[l];
      if (loop.lower == loop.upper)
        return of(carry->initial, std::move(indices));
      indices[l] = loop.upper - 1;
      return of(carry->yielded, std::move(indices));
    }
    if (const auto exit = exits_.find(value); exit != exits_.end()) {
      const auto& [l, of_loop] = exit->second;
      indices[l] = of_loop->iteration;
      return of(of_loop->inside, std::move(indices));
    }
    return name(region_.value(value).name, loop_of_[value.index()], indices);
  }

  /// Returns "l[3].m[40].y" for "l[].m[].y".
  std::string name(std::string name, std::optional<size_t> loop,
                   const std::map<size_t, int64_t>& indices) const {
    std::vector<int64_t> all;
    for (std::optional<size_t> l = loop; l; l = region_.loops[*l].around)
      all.push_back(indices.at(*l));
    for (; !all.empty(); all.pop_back())
      name.insert(name.find("[]") + 1, std::to_string(all.back()));
    return name;
  }

  /// Returns every op of every iteration, with its operands.
  Lines all() const {
    Lines lines;
    add({0, static_cast<uint32_t>(region_.ops.size())}, std::nullopt, {}, lines);
    return lines;
  }

 private:
  void add(IdRange ops, std::optional<size_t> around, const std::map<size_t, int64_t>& indices,
           Lines& lines) const {
    uint32_t op = ops.begin;
    const auto add_ops = [&](uint32_t end) {
      for (; op < end; ++op) {
        std::vector<std::string> operands;
        for (const ValueId operand : region_.ops[op].operands)
          operands.push_back(of(operand, indices));
        lines.lines.push_back(fmt::format(
            "{} = {}({})", name(region_.ops[op].name, around, indices),
            op_name(region_.ops[op].kind, region_.ops[op].issue), fmt::join(operands, ", ")));
      }
    };
    for (size_t l = 0; l < region_.loops.size(); ++l) {
      const Loop& loop = region_.loops[l];
      if (loop.around != around)
        continue;
      add_ops(loop.ops.begin);
      for (int64_t i = loop.lower; i < loop.upper; ++i) {
        std::map<size_t, int64_t> inside = indices;
        inside[l] = i;
        add(loop.ops, l, inside, lines);
      }
      op = loop.ops.end;
    }
    add_ops(ops.end);
  }

  const Program& region_;
  std::vector<std::optional<size_t>> loop_of_;
  std::map<ValueId, std::pair<size_t, const Carry*>> params_, results_;
  std::map<ValueId, std::pair<size_t, const Exit*>> exits_;
};

TEST_CASE("unroll: random loops read in each iteration what the definition of a carry says") {
  size_t left_out = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const Program region = RandomLoops(seed).make();
    const auto [flat, runs, values] = unrolled(region, LongLoops::WrittenOut);
    REQUIRE(listing(flat) == Meaning(region).all());
    const auto [shortened, shown, shown_values] = unrolled(region, LongLoops::LeftOut);
    left_out += leaves_out_iterations(shortened) ? 1 : 0;
    std::map<OpRun, size_t> op_of;
    for (size_t op = 0; op < runs.size(); ++op)
      REQUIRE(op_of.emplace(runs[op], op).second);
    for (size_t op = 0; op < shown.size(); ++op) {
      const Op& all = flat.ops[op_of.at(shown[op])];
      REQUIRE(shortened.ops[op].name == all.name);
      // Operands from left-out iterations have the names of other iterations.
      for (size_t i = 0; i < all.operands.size(); ++i)
        REQUIRE(without_indices(shortened.value(shortened.ops[op].operands[i]).name) ==
                without_indices(flat.value(all.operands[i]).name));
    }
    REQUIRE(flat.value(values.back().value()).name ==
            shortened.value(shown_values.back().value()).name);
  }
  CHECK(left_out > 30);
}

}  // namespace
}  // namespace orrery
