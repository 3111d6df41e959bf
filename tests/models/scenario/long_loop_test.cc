// Compares programs that leave out iterations of loops with the programs that have all iterations.

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/iteration_name.h"
#include "models/program/loops.h"
#include "models/scenario/reader.h"
#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

Scenario read_long(const std::string& program, LongLoops long_loops) {
  test::Small small;
  small.program = program;
  small.more = R"("name": "loops")";
  return written(read_scenario("f", small.text()), long_loops).scenario;
}

std::string loop(const std::string& id, int trips, const std::string& carry,
                 const std::string& body, const std::string& yield) {
  return fmt::format(R"({{"id": "{}", "op": "fori_loop", "lower": -1, "upper": {}, "index": "i{}",
                       "carry": {{{}}}, "body": [{}], "yield": {{{}}}}})",
                     id, trips - 1, id, carry, body, yield);
}

/// Compares the program that may leave out iterations with the program that has all iterations.
/// Returns the number of ops that are written.
size_t check_written(const std::string& program) {
  CAPTURE(program);
  const Program whole = read_long(program, LongLoops::WrittenOut).program;
  const Program some = read_long(program, LongLoops::LeftOut).program;
  uint64_t runs = 0;
  for (const uint64_t times : repetitions(some))
    runs += times;
  CHECK(runs == whole.ops.size());
  std::map<std::string, size_t> op_named;
  for (size_t op = 0; op < whole.ops.size(); ++op)
    op_named.emplace(whole.ops[op].name, op);
  for (const Op& op : some.ops) {
    const Op& same = whole.ops[op_named.at(op.name)];
    REQUIRE(op.origin == same.origin);
    REQUIRE(op.kind == same.kind);
    REQUIRE(op.attributes == same.attributes);
    // Operands from left-out iterations have the names of other iterations.
    for (size_t i = 0; i < op.operands.size(); ++i)
      REQUIRE(without_indices(some.value(op.operands[i]).name) ==
              without_indices(whole.value(same.operands[i]).name));
    for (size_t r = 0; r < op.results.size(); ++r)
      REQUIRE(some.value(op.results[r]).name == whole.value(same.results[r]).name);
    if (op.site) {
      REQUIRE(some.site(*op.site).name == whole.site(*same.site).name);
      REQUIRE(some.site(*op.site).groups == whole.site(*same.site).groups);
    }
  }
  REQUIRE(some.outputs.size() == whole.outputs.size());
  for (size_t output = 0; output < some.outputs.size(); ++output)
    CHECK(some.value(some.outputs[output]).name == whole.value(whole.outputs[output]).name);
  return some.ops.size();
}

const std::string kPsum = R"({"id": "s", "op": "psum", "of": "h", "axis_name": "x"})";
const std::string kAdd = R"({"id": "y", "op": "add", "of": ["h", "a"]})";

TEST_CASE("loops: a long loop costs what a short one does, and is the same program") {
  const auto program = [](int trips) {
    return "[" + loop("l", trips, R"("h": "a")", kPsum + "," + kAdd, R"("h": "y")") +
           R"(, {"id": "z", "op": "add", "of": ["l", "a"]}])";
  };
  const size_t few = check_written(program(7));
  CHECK(few < 7 * 3 + 1);
  CHECK(check_written(program(60)) == few);
  for (int trips = 1; trips < 7; ++trips)
    check_written(program(trips));
}

TEST_CASE("loops: values are carried over several iterations") {
  for (const int trips : {8, 9, 10, 11, 30})
    check_written("[" +
                  loop("l", trips, R"("h": "a", "g": "a", "f": "a")",
                       R"({"id": "y", "op": "add", "of": ["h", "f"]},
                      {"id": "r", "op": "reshape", "of": "y", "new_sizes": [2]})",
                       R"("h": "r", "g": "h", "f": "g")") +
                  R"(, {"id": "z", "op": "add", "of": ["l.g", "l.f"]}])");
}

TEST_CASE("loops: an alias of an earlier iteration's value is in that iteration's storage") {
  // "v" is an alias of "t" of the iteration before. So "h", and "u" with it, is in the storage of
  // the iteration two before.
  const size_t ops =
      check_written("[" +
                    loop("l", 40, R"("h": "a", "g": "a")",
                         R"({"id": "u", "op": "reshape", "of": "h", "new_sizes": [2]},
              {"id": "y", "op": "add", "of": ["g", "u"]},
              {"id": "v", "op": "reshape", "of": "g", "new_sizes": [2]},
              {"id": "t", "op": "neg", "of": "v"})",
                         R"("h": "v", "g": "t")") +
                    "]");
  CHECK(ops < 40 * 5);
}

TEST_CASE("loops: ops with several results, some in storage of an earlier iteration") {
  for (const int trips : {3, 8, 20})
    check_written("[" +
                  loop("l", trips, R"("h": "a", "g": "a")",
                       R"({"id": ["p", "q"], "op": "split", "of": "h", "sizes": [1, 1]},
                              {"id": "y", "op": "concatenate", "of": ["q", "p"], "dimension": 0},
                              {"id": ["b", "c"], "op": "optimization_barrier", "of": ["g", "y"]})",
                       R"("h": "c", "g": "h")") +
                  R"(, {"id": "z", "op": "add", "of": ["l.h", "l.g"]}])");
}

TEST_CASE("loops: a future is carried from one iteration to the next") {
  check_written(R"([{"id": "f0", "op": "psum_start", "of": "a", "axis_name": "x"},)" +
                loop("l", 20, R"("h": "a", "f": "f0")",
                     R"({"id": "d", "op": "done", "of": "f"},
              {"id": "f1", "op": "psum_start", "of": "h", "axis_name": "x"},
              {"id": "y", "op": "add", "of": ["h", "h"]})",
                     R"("h": "y", "f": "f1")") +
                R"(, {"id": "z", "op": "done", "of": "l.f"}])");
}

TEST_CASE("loops: loops in loops leave out iterations at both levels") {
  const std::string inner =
      loop("m", 9, R"("g": "h")", R"({"id": "t", "op": "psum", "of": "g", "axis_name": "x"},
                                     {"id": "u", "op": "add", "of": ["t", "a"]})",
           R"("g": "u")");
  const size_t ops = check_written(
      "[" +
      loop("l", 8, R"("h": "a")",
           inner + R"(, {"id": "y", "op": "add", "of": ["m", "h"]},)" +
               loop("n", 6, R"("g": "y")", R"({"id": "v", "op": "neg", "of": "g"})", R"("g": "v")"),
           R"("h": "n")") +
      "]");
  CHECK(ops < 8 * 9 * 3);
}

/// Returns a loop whose two or three carries p, q and r change places. "h" is new in each
/// iteration.
std::string round_loop(const std::string& id, int trips, int places) {
  return loop(
      id, trips,
      places == 2 ? R"("p": "a", "q": "b", "h": "a")" : R"("p": "a", "q": "b", "r": "c", "h": "a")",
      R"({"id": "s", "op": "psum", "of": "p", "axis_name": "x"},
                 {"id": "y", "op": "sub", "of": ["s", "h"]})",
      places == 2 ? R"("p": "q", "q": "p", "h": "y")"
                  : R"("p": "q", "q": "r", "r": "p", "h": "y")");
}

const std::string kMoreValues =
    R"({"id": "b", "op": "neg", "of": "a"}, {"id": "c", "op": "neg", "of": "b"}, )";

TEST_CASE("loops: carries that change places repeat with the period in which they come round") {
  for (const int places : {2, 3})
    for (int trips = 4; trips < 40; ++trips) {
      const size_t ops = check_written("[" + kMoreValues + round_loop("l", trips, places) +
                                       R"(, {"id": "z", "op": "sub", "of": ["l.p", "l.q"]}])");
      CHECK(ops < 12 * 3 + 4);
    }
  CHECK(read_long("[" + kMoreValues + round_loop("l", 1'000'000, 3) + "]", LongLoops::LeftOut)
            .program.ops.size() < 40);
}

TEST_CASE("loops: carries that change places in a loop in a loop, and in that one too") {
  // After 9 iterations of the inner loop, p and q have changed places; after 10 they have not. In
  // the outer loop, three carries go round for 9, and two change places for 10.
  for (const int inner : {9, 10}) {
    const std::string body =
        loop("m", inner, R"("v": "p", "w": "q", "g": "h")",
             R"({"id": "t", "op": "sub", "of": ["v", "g"]})", R"("v": "w", "w": "v", "g": "t")");
    const size_t ops = check_written("[" + kMoreValues +
                                     loop("l", 40, R"("p": "a", "q": "b", "r": "c", "h": "a")",
                                          body, R"("p": "m.v", "q": "r", "r": "m.w", "h": "m.g")") +
                                     R"(, {"id": "z", "op": "sub", "of": ["l.p", "l.h"]}])");
    CHECK(ops < 40 * 10);
  }
}

TEST_CASE("loops: names of single iterations, where carries change places") {
  for (const int index : {3, 4, 5, 6, 7, 17, 18, 31, 32, 33, 34, 35, 36, 37, 38})
    for (const int places : {2, 3})
      CHECK(check_written("[" + kMoreValues + round_loop("l", 40, places) +
                          fmt::format(R"(, {{"id": "z", "op": "neg", "of": "l[{}].y"}}])", index)) <
            40 * 3);
}

TEST_CASE("loops: carries that change places in a loop without ops") {
  for (const int trips : {999'999, 1'000'000}) {
    const Program made =
        read_long("[" + kMoreValues +
                      fmt::format(R"({{"id": "l", "op": "fori_loop", "lower": 0, "upper": {},
                             "carry": {{"p": "a", "q": "b"}}, "body": [],
                             "yield": {{"p": "q", "q": "p"}}}},
                           {{"id": "z", "op": "neg", "of": "l.p"}}])",
                                  trips),
                  LongLoops::WrittenOut)
            .program;
    CHECK(made.value(made.ops.back().operands[0]).name == (trips % 2 == 0 ? "a" : "b"));
  }
}

TEST_CASE("loops: a name of an iteration between the first and the last keeps that one") {
  const auto program = [](int trips, const std::string& names) {
    return "[" + loop("l", trips, R"("h": "a")", kAdd, R"("h": "y")") +
           R"(, {"id": "z", "op": "optimization_barrier", "of": [)" + names + "]}]";
  };
  const size_t one = check_written(program(40, R"("l[17].y")"));
  CHECK(one < 30);
  for (const int index : {3, 4, 5, 6, 33, 34, 35, 36, 37, 38})
    check_written(program(40, fmt::format(R"("l[{}].y")", index)));
}

TEST_CASE("loops: several names, some of iterations beside each other") {
  const std::string many = "[" +
                           loop("l", 200, R"("h": "a", "g": "a")", kAdd, R"("h": "y", "g": "h")") +
                           R"(, {"id": "z", "op": "add", "of": ["l[50].y", "l[51].y"]},
                                {"id": "v", "op": "add", "of": ["l[52].y", "l[2].y"]},
                                {"id": "w", "op": "add", "of": ["l[120].il", "l[198].il"]}])";
  CHECK(check_written(many) < 100);
}

TEST_CASE("loops: names of iterations of loops in loops") {
  const std::string inner =
      loop("m", 50, R"("g": "h")", R"({"id": "t", "op": "psum", "of": "g", "axis_name": "x"},
                                     {"id": "u", "op": "add", "of": ["t", "a"]})",
           R"("g": "u")");
  const auto program = [&](const std::string& name) {
    return "[" +
           loop("l", 40, R"("h": "a")", inner + R"(, {"id": "y", "op": "add", "of": ["m", "h"]})",
                R"("h": "y")") +
           fmt::format(R"(, {{"id": "z", "op": "neg", "of": "{}"}}])", name);
  };
  for (const std::string name :
       {"l[20].y", "l[20].m[30].u", "l[0].m[30].t", "l[20].m", "l[38].m[48].u"}) {
    CAPTURE(name);
    CHECK(check_written(program(name)) < 40 * 50);
  }
}

/// Returns a loop in a loop, and ops that name iterations "l[i].m[j]".
std::string named_in_nest(int trips, int inner_trips,
                          const std::vector<std::pair<int, int>>& names) {
  const std::string inner = loop("m", inner_trips, R"("g": "h")",
                                 R"({"id": "u", "op": "add", "of": ["g", "a"]})", R"("g": "u")");
  std::string program = "[" + loop("l", trips, R"("h": "a")", inner, R"("h": "m")");
  for (const auto& [i, j] : names)
    program += fmt::format(R"(, {{"id": "z{0}_{1}", "op": "neg", "of": "l[{0}].m[{1}].u"}})", i, j);
  return program + "]";
}

TEST_CASE("loops: several names of iterations of loops in loops") {
  // The names are of the first and the last iterations, of neighbours, and in the same iteration.
  for (const std::vector<std::pair<int, int>>& names :
       {std::vector<std::pair<int, int>>{{-1, 9}, {20, 11}},
        {{20, 9}, {21, 9}, {22, 11}},
        {{20, 9}, {20, 10}, {20, -1}},
        {{38, 9}, {37, 28}},
        {{3, 9}, {30, 0}, {17, -1}}})
    CHECK(check_written(named_in_nest(40, 30, names)) < 40 * 30 / 2);
}

TEST_CASE("loops: iterations that make no buffer") {
  const size_t ops = check_written(
      R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 40, "carry": {"h": "a"},
           "body": [{"id": "r", "op": "reshape", "of": "h", "new_sizes": [2]}],
           "yield": {"h": "r"}}, {"id": "z", "op": "neg", "of": "l"}])");
  CHECK(ops < 40);
}

TEST_CASE("loops: ops of loops in loops run as often as the product says, at most 2^63 - 1 times") {
  const auto most = [](const std::vector<int64_t>& trips) {
    std::string body = R"({"id": "y", "op": "neg", "of": "a"})";
    for (size_t l = 0; l < trips.size(); ++l)
      body = fmt::format(R"({{"id": "l{}", "op": "fori_loop", "lower": 0, "upper": {},
                              "body": [{}]}})",
                         l, trips[l], body);
    test::Small small;
    small.program = "[" + body + "]";
    const std::vector<uint64_t> times = repetitions(read_scenario("f", small.text()).program);
    return *std::max_element(times.begin(), times.end());
  };
  constexpr int64_t kLongest = (int64_t{1} << 31U) - 1;
  CHECK(most({40, 30}) == 1200);
  CHECK(most({kLongest, kLongest}) == uint64_t{kLongest} * kLongest);
  CHECK(most({kLongest, kLongest, 3}) == (uint64_t{1} << 63U) - 1);
}

TEST_CASE("loops: loops that meet keep what is named in one of them, in each other too") {
  const auto nest = [](const std::string& p) {
    return loop(p + "l", 40, fmt::format(R"("{}h": "a")", p),
                loop(p + "m", 30, fmt::format(R"("{0}g": "{0}h")", p),
                     fmt::format(R"({{"id": "{0}u", "op": "psum", "of": "{0}g", "axis_name": "x",
                                      "site": "meet"}})",
                                 p),
                     fmt::format(R"("{0}g": "{0}u")", p)),
                fmt::format(R"("{0}h": "{0}m")", p));
  };
  const std::string text = R"({"orrery": 1, "check_types": false, "mesh": {"x": 2},
    "cluster": {"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"},
    "arrays": {"a": {"shape": [2], "dtype": "f32"}},
    "programs": [{"on": {"x": 0}, "do": [)" +
                           nest("p") + R"(]},
                 {"on": {"x": 1}, "do": [)" +
                           nest("q") + R"(]}], "outputs": ["pl[20].pm[17].pu"]})";
  const Program made = written(read_scenario("f", text), LongLoops::LeftOut).scenario.program;
  CHECK(made.ops.size() < 40 * 30);
  const auto has = [&](const std::string& loop, int64_t index) {
    const auto of = std::ranges::find(made.written_loops, loop, &WrittenLoop::name);
    REQUIRE(of != made.written_loops.end());
    return std::ranges::find(of->written, index, &LoopIteration::index) != of->written.end();
  };
  for (const std::string p : {"p", "q"}) {
    CHECK(has(p + "l", 20));
    CHECK(has(fmt::format("{0}l[20].{0}m", p), 17));
    CHECK_FALSE(has(p + "l", 17));
  }
}

TEST_CASE("loops: loops that meet and go round differently leave out whole periods of each") {
  const auto meet = [](const std::string& id, const std::string& carry, const std::string& yield) {
    return loop(id, 100, carry,
                fmt::format(R"({{"id": "{0}s", "op": "psum", "of": "{0}p", "axis_name": "x",
                                 "site": "meet"}})",
                            id),
                yield);
  };
  const std::string text = R"({"orrery": 1, "check_types": false, "mesh": {"x": 2},
    "cluster": {"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"},
    "arrays": {"a": {"shape": [2], "dtype": "f32"}, "b": {"shape": [2], "dtype": "f32"},
               "c": {"shape": [2], "dtype": "f32"}},
    "programs": [{"on": {"x": 0}, "do": [)" +
                           meet("l", R"("lp": "a", "lq": "b")", R"("lp": "lq", "lq": "lp")") +
                           R"(]}, {"on": {"x": 1}, "do": [)" +
                           meet("m", R"("mp": "a", "mq": "b", "mr": "c", "mh": "a", "mg": "a")",
                                R"("mp": "mq", "mq": "mr", "mr": "mp", "mh": "ms", "mg": "mh")") +
                           "]}]}";
  const Program made = written(read_scenario("f", text), LongLoops::LeftOut).scenario.program;
  REQUIRE(made.written_loops.size() == 2);
  for (const WrittenLoop& loop : made.written_loops) {
    CHECK(loop.period == 6);
    CHECK(loop.left_out() > 70);
    CHECK(loop.left_out() % 6 == 0);
  }
}

TEST_CASE("loops: ids with brackets or points are told from names in loops") {
  const std::string body = R"({"id": "t", "op": "neg", "of": "h"})";
  const auto named = [&](const std::string& program, const std::string& name) {
    test::Small small;
    small.program = program;
    small.more = fmt::format(R"("outputs": ["{}"])", name);
    const Scenario scenario =
        written(read_scenario("f", small.text()), LongLoops::LeftOut).scenario;
    return scenario.program.value(scenario.program.outputs[0]).name;
  };
  CHECK(named("[" + loop("l[0]", 12, R"("h": "a")", body, R"("h": "t")") + "]", "l[0][6].t") ==
        "l[0][6].t");
  const std::string inner = loop("b", 2, R"("h": "g")", body, R"("h": "t")");
  CHECK(named("[" + loop("a0", 2, R"("g": "a")", inner, R"("g": "b")") + ", " +
                  loop("a0.b", 12, R"("h": "a")", body, R"("h": "t")") + "]",
              "a0.b[6].t") == "a0.b[6].t");
}

TEST_CASE("loops: a million iterations, of which one in the middle is named") {
  const std::string program = "[" + loop("l", 1'000'000, R"("h": "a")", kAdd, R"("h": "y")") +
                              R"(, {"id": "z", "op": "neg", "of": "l[500000].y"}])";
  const Program made = read_long(program, LongLoops::LeftOut).program;
  CHECK(made.ops.size() < 30);
  const auto named = std::find_if(made.ops.begin(), made.ops.end(),
                                  [](const Op& op) { return op.name == "l[500000].y"; });
  REQUIRE(named != made.ops.end());
  CHECK(made.ops.back().operands == named->results);
}

TEST_CASE("loops: an id that an iteration left out has is used, with an op before or after") {
  const std::string long_loop = loop("l", 40, R"("h": "a")", kAdd, R"("h": "y")");
  const std::string same = R"({"id": "l[17].y", "op": "neg", "of": "a"})";
  for (const std::string& program :
       {"[" + long_loop + ", " + same + "]", "[" + same + ", " + long_loop + "]"})
    CHECK_THROWS_WITH_AS(read_long(program, LongLoops::LeftOut),
                         doctest::Contains("expected an unused id, got \"l[17].y\""), InputError);
  const std::string two = R"([{"id": "l[3].y", "op": "neg", "of": "a"}, )"
                          R"({"id": "l[1].y", "op": "neg", "of": "a"}, )";
  CHECK_THROWS_WITH_AS(read_long(two + long_loop + "]", LongLoops::LeftOut),
                       doctest::Contains("got \"l[1].y\", which /program/1"), InputError);
  // No iteration has this name.
  CHECK_NOTHROW(read_long("[" + long_loop + R"(, {"id": "l[40].y", "op": "neg", "of": "a"}])",
                          LongLoops::LeftOut));
}

TEST_CASE("loops: an error of sites beside a loop that is too long to be read whole is told") {
  const auto thread = [](const char* on, const char* id) {
    return fmt::format(R"({{"on": {}, "do": [{}]}})", on,
                       loop(id, 1'000'000, R"("h": "a")",
                            R"({"id": "y", "op": "psum", "of": "h", "axis_name": "x",
                                "site": "s"})",
                            R"("h": "y")"));
  };
  test::Small small;
  small.program = "[" + thread("[0, 1]", "l") + "," + thread("[1, 2, 3]", "m") + "]";
  std::string text = small.text();
  text.replace(text.find("\"program\""), 9, "\"check_types\": false, \"programs\"");
  Limits few;
  few.ops = 1000;
  const std::string refused = test::refusal(text, few);
  CHECK(refused.find("expected each device to issue site") != std::string::npos);
  CHECK(refused.find("every iteration is read where one is asked for") != std::string::npos);
}

}  // namespace
}  // namespace orrery
