// Tests the ops that a "fori_loop" becomes, and the errors of a wrong loop.

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/program/rules.h"
#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

using test::refusal;
using test::Small;

Scenario read_looping(const std::string& program, const std::string& more = R"("name": "loop")") {
  Small small;
  small.program = program;
  small.more = more;
  return read_scenario("f", small.text());
}

/// Returns the scenario with all iterations written out.
Scenario looping(const std::string& program, const std::string& more = R"("name": "loop")") {
  return written(read_looping(program, more), LongLoops::WrittenOut).scenario;
}

/// Returns "id = op(operands)" for each op.
std::vector<std::string> listing(const Program& program) {
  std::vector<std::string> lines;
  for (const Op& op : program.ops) {
    std::string line = op.name + " = " + op_name(op.kind, op.issue) + "(";
    for (const ValueId operand : op.operands)
      line += (line.back() == '(' ? "" : ", ") + program.value(operand).name;
    lines.push_back(line + ")");
  }
  return lines;
}

using Lines = std::vector<std::string>;

/// Returns a loop "l" with this body, which carries `a`, f32[2], as "h".
std::string loop(const std::string& body, const std::string& yield,
                 const std::string& head = R"("lower": 0, "upper": 2)") {
  return R"({"id": "l", "op": "fori_loop", )" + head +
         R"(, "index": "i", "carry": {"h": "a"}, "body": [)" + body + R"(], "yield": {"h": ")" +
         yield + R"("}})";
}

const std::string kAddOfBody = R"({"id": "y", "op": "add", "of": ["h", "a"]})";

TEST_CASE("loop: the body once for each iteration, its ids with the index") {
  const Scenario scenario =
      looping("[" + loop(kAddOfBody, "y") + R"(, {"id": "z", "op": "mul", "of": ["l", "l.h"]}])");
  CHECK(listing(scenario.program) == Lines{"l[0].i = full()", "l[0].y = add(a, a)",
                                           "l[1].i = full()", "l[1].y = add(l[0].y, a)",
                                           "z = mul(l[1].y, l[1].y)"});
}

TEST_CASE("loop: the index is an s32 scalar from lower to before upper, and costs nothing") {
  const Scenario scenario =
      looping("[" + loop(kAddOfBody, "y", R"("lower": -1, "upper": 1)") + "]");
  const Op& index = scenario.program.ops[0];
  CHECK(index.name == "l[-1].i");
  CHECK(index.attributes.number("fill_value") == -1);
  const ValueType& type = scenario.program.value(index.results[0]).type;
  CHECK(text(type, scenario.program.mesh) == "s32[]");
  CHECK_FALSE(rules(OpKind::Full).cost(index.attributes, {}, std::vector{type}).runs);
}

TEST_CASE("loop: without iterations its results are its initial values") {
  // As in JAX, an end before the beginning is no iteration.
  for (const char* const bounds : {R"("lower": 3, "upper": 3)", R"("lower": 3, "upper": -2)"}) {
    const Scenario scenario = looping("[" + loop(kAddOfBody, "y", bounds) +
                                      R"(, {"id": "z", "op": "add", "of": ["l", "a"]}])");
    CHECK(listing(scenario.program) == Lines{"z = add(a, a)"});
  }
}

TEST_CASE("loop: carries change at the end of an iteration, all at once") {
  const std::string swap = R"({"id": "l", "op": "fori_loop", "lower": 0, "upper": 3,
    "carry": {"p": "a", "q": "b"}, "body": [], "yield": {"p": "q", "q": "p"}})";
  const Scenario scenario = looping(R"([{"id": "b", "op": "add", "of": ["a", "a"]}, )" + swap +
                                    R"(, {"id": "z", "op": "sub", "of": ["l.p", "l.q"]}])");
  CHECK(listing(scenario.program) == Lines{"b = add(a, a)", "z = sub(b, a)"});
}

TEST_CASE("loop: a collective started in one iteration may be done in the next one") {
  const std::string prefetch = R"([
    {"id": "first", "op": "all_gather_start", "of": "a", "axis_name": "x", "axis": 0, "tiled": true},
    {"id": "l", "op": "fori_loop", "lower": 0, "upper": 2, "carry": {"w": "first"}, "body": [
      {"id": "whole", "op": "done", "of": "w"},
      {"id": "next", "op": "all_gather_start", "of": "a", "axis_name": "x", "axis": 0, "tiled": true}
    ], "yield": {"w": "next"}},
    {"id": "last", "op": "done", "of": "l"}])";
  CHECK(listing(looping(prefetch).program) ==
        Lines{"first = all_gather_start(a)", "l[0].whole = done(first)",
              "l[0].next = all_gather_start(a)", "l[1].whole = done(l[0].next)",
              "l[1].next = all_gather_start(a)", "last = done(l[1].next)"});
}

TEST_CASE("loop: loops nest, and the inner one's results are named in the outer") {
  const std::string inner = R"({"id": "m", "op": "fori_loop", "lower": 0, "upper": 2,
    "carry": {"g": "h"}, "body": [{"id": "y", "op": "add", "of": ["g", "h"]}], "yield": {"g": "y"}})";
  const Scenario scenario = looping("[" + loop(inner, "m.g") + "]");
  CHECK(listing(scenario.program) == Lines{"l[0].i = full()", "l[0].m[0].y = add(a, a)",
                                           "l[0].m[1].y = add(l[0].m[0].y, a)", "l[1].i = full()",
                                           "l[1].m[0].y = add(l[0].m[1].y, l[0].m[1].y)",
                                           "l[1].m[1].y = add(l[1].m[0].y, l[0].m[1].y)"});
}

TEST_CASE("loop: threads meet at a site once in each iteration") {
  const auto half = [](const std::string& on, const std::string& id) {
    return R"({"on": {"x": )" + on + R"(}, "do": [{"id": ")" + id +
           R"(", "op": "fori_loop", "lower": 0, "upper": 2, "carry": {"h": "a"}, "body": [
               {"id": "s", "op": "psum", "of": "h", "axis_name": "x", "site": "all"}
             ], "yield": {"h": "s"}}]})";
  };
  Small small;
  small.more = R"("check_types": false)";
  std::string text = small.text();
  const size_t at = text.find("\"program\": ");
  text.replace(at, text.find('\n', at) - at,
               "\"programs\": [" + half("[0, 2]", "p") + ", " + half("[2, 4]", "q") + "],");
  const Scenario scenario = written(read_scenario("f", text), LongLoops::WrittenOut).scenario;
  REQUIRE(scenario.program.sites.size() == 2);
  CHECK(scenario.program.sites[0].name == "all[0]");
  CHECK(scenario.program.sites[1].name == "all[1]");
  CHECK(scenario.program.sites[1].ops.size() == 2);
}

TEST_CASE("loop: outputs and expectations may name its results") {
  const std::string more = R"("outputs": ["l.h"], "expect": [{"equal": ["l", "z"]}])";
  const Scenario scenario = looping(
      "[" + loop(kAddOfBody, "y") + R"(, {"id": "z", "op": "add", "of": ["l", "a"]}])", more);
  CHECK(scenario.program.value(scenario.program.outputs.at(0)).name == "l[1].y");
  const std::vector<ComparedValue>& values =
      std::get<ExpectEqual>(scenario.expectations.at(0).what).values;
  REQUIRE(values.size() == 2);
  CHECK(values[0].name == "l[1].y");
  CHECK(values[0].written == "l");
  CHECK(values[1].name == "z");
}

TEST_CASE("loop: a scenario keeps it as it is read, and so are the names of its values") {
  const std::string more = R"("outputs": ["l"], "expect": [{"equal": ["l", "l[0].y", "z"]}])";
  const Scenario scenario = read_looping(
      "[" + loop(kAddOfBody, "y") + R"(, {"id": "z", "op": "add", "of": ["l", "a"]}])", more);
  CHECK(listing(scenario.program) ==
        Lines{"l[].i = full()", "l[].y = add(l[].h, a)", "z = add(l.h, a)"});
  CHECK(scenario.program.loops.size() == 1);
  CHECK(scenario.program.value(scenario.program.outputs.at(0)).name == "l.h");
  std::string names;
  for (const ComparedValue& value : std::get<ExpectEqual>(scenario.expectations.at(0).what).values)
    names += value.name + " ";
  CHECK(names == "l.h l[0].y z ");
}

std::string refused(const std::string& program, const std::string& more = Small{}.more) {
  Small small;
  small.program = program;
  small.more = more;
  return refusal(small.text());
}

TEST_CASE("loop: an id of an iteration that the loop lacks is told which ones it has") {
  const std::string y = R"({"id": "y", "op": "add", "of": ["h", "a"]})";
  const std::string of_values = "expected the id of a value, got ";
  const std::string of_ops = "expected the id of an array or of an earlier op, got ";
  const auto outputs = [](const std::string& id) { return R"("outputs": [")" + id + R"("])"; };
  const auto expected = [](const std::string& id) {
    return R"("expect": [{"equal": [")" + id + R"(", "a"]}])";
  };
  const std::string l = "[" + loop(y, "y") + "]";
  for (const std::string index : {"2", "-1", "1000000"}) {
    const std::string hint = "\"l[" + index + R"(].y", but the loop "l" has the iterations 0 to 1)";
    CHECK(refused(l, outputs("l[" + index + "].y")).ends_with(of_ops + hint));
    CHECK(refused(l, expected("l[" + index + "].y")).ends_with(of_values + hint));
  }
  const std::string never = "[" + loop(y, "y", R"("lower": 3, "upper": 3)") + "]";
  CHECK(refused(never, outputs("l[3].y"))
            .ends_with(of_ops + R"("l[3].y", but the loop "l" has no iterations)"));
  const std::string nested =
      R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 4, "carry": {"h": "a"}, "body": [)"
      R"({"id": "m", "op": "fori_loop", "lower": 5, "upper": 7, "carry": {"g": "h"}, "body": [)"
      R"({"id": "y", "op": "add", "of": ["g", "g"]}], "yield": {"g": "y"}}], )"
      R"("yield": {"h": "m"}}])";
  CHECK(
      refused(nested, outputs("l[1].m[7].y"))
          .ends_with(of_ops + R"("l[1].m[7].y", but the loop "l[1].m" has the iterations 5 to 6)"));
  CHECK(refused(nested, outputs("l[4].m[5].y"))
            .ends_with(of_ops + R"("l[4].m[5].y", but the loop "l" has the iterations 0 to 3)"));
  // The iteration is there, and the name is not.
  CHECK(refused(nested, outputs("l[1].m[5].z")).find("but the loop") == std::string::npos);
}

TEST_CASE("loop: an error in the body is reported once, with its position and the loop") {
  CHECK(
      refused("[" + loop(R"({"id": "y", "op": "psum", "of": "h", "axis_name": "t"})", "y") + "]") ==
      "f:5:162: /program/0/body/0/axis_name: psum \"l.y\": expected an axis of the mesh (x), got "
      "\"t\" (in "
      "l)");
  CHECK(refused("[" + loop(R"({"id": "y", "op": "add", "of": ["h", "b"]})", "y") + "]") ==
        "f:5:143: /program/0/body/0/of: expected the id of an array or of an earlier op, got "
        "\"b\" (in l)");
  CHECK(refused("[" +
                loop(R"({"id": "y", "op": "add", "of": ["h", "z"]}, )"
                     R"({"id": "z", "op": "add", "of": ["h", "h"]})",
                     "z") +
                "]") ==
        "f:5:143: /program/0/body/0/of: expected the id of an array or of an earlier op, got "
        "\"z\", which the loop's body defines later (in l)");
  CHECK(refused("[" + loop(R"({"id": "h", "op": "add", "of": ["a", "a"]})", "h") + "]") ==
        "f:5:119: /program/0/body/0/id: expected an unused id, got \"h\", which the loop carries "
        "(in l)");
}

TEST_CASE("loop: each result of an op of the body has the iteration in its id") {
  const Scenario scenario =
      looping("[" +
              loop(R"({"id": ["p", "q"], "op": "split", "of": "h", "sizes": [1, 1]},
              {"id": "y", "op": "concatenate", "of": ["q", "p"], "dimension": 0})",
                   "y") +
              "]");
  CHECK(listing(scenario.program) ==
        Lines{"l[0].i = full()", "l[0].p = split(a)", "l[0].y = concatenate(l[0].q, l[0].p)",
              "l[1].i = full()", "l[1].p = split(l[0].y)", "l[1].y = concatenate(l[1].q, l[1].p)"});
  const std::string too_early = loop(R"({"id": "y", "op": "add", "of": ["q", "h"]},
                                        {"id": ["p", "q"], "op": "split", "of": "h", "sizes": [1, 1]})",
                                     "y");
  CHECK(refused("[" + too_early + "]").find("got \"q\", which the loop's body defines later") !=
        std::string::npos);
}

TEST_CASE("loop: one that carries out several values does not stand for one of them") {
  const std::string program =
      R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 2, "carry": {"h": "a", "g": "a"},
           "body": [{"id": "y", "op": "add", "of": ["h", "g"]}], "yield": {"h": "y", "g": "h"}})";
  const std::string hint = "; did you mean \"l.g\" or \"l.h\"?";
  const auto message = [&](const std::string& ops, const std::string& more = R"("name": "t")") {
    try {
      looping(program + ops + "]", more);
    } catch (const InputError& error) {
      const std::string text = error.what();
      return text.substr(text.find("expected"));
    }
    return std::string();
  };
  const std::string operand = "expected the id of an array or of an earlier op, got \"l\"" + hint;
  CHECK(message(R"(, {"id": "z", "op": "neg", "of": "l"})") == operand);
  CHECK(message("", R"("outputs": ["l"])") == operand);
  CHECK(message("", R"("expect": [{"equal": ["l", "a"]}])") ==
        "expected the id of a value, got \"l\"" + hint);
}

TEST_CASE("loop: a carry keeps its dtype and shape") {
  const std::string program = R"([{"id": "w", "op": "reshape", "of": "a", "new_sizes": [1, 2]},
    {"id": "l", "op": "fori_loop", "lower": 5, "upper": 9, "carry": {"c": "a"}, "body": [],
     "yield": {"c": "w"}}])";
  CHECK(refused(program) ==
        "f:7:21: /program/1/yield/c: fori_loop \"l\": expected \"c\" to stay f32[2], got f32[1,2] "
        "from "
        "\"w\" (in l)");
}

TEST_CASE("loop: a carry is where its first value is") {
  const auto yielding = [](const std::string& program, int trips) {
    Small small;
    small.arrays = R"({"a": {"shape": [8], "dtype": "f32", "spec": ["x"]},
"b": {"local_shape": [2], "dtype": "f32", "on": [0, 1], "per_device": [[1, 2], [3, 4]]}})";
    small.program = "[" + program + "]";
    const std::string key = "\"upper\": ";
    small.program.insert(small.program.find(key) + key.size(), std::to_string(trips));
    small.more = R"("check_types": false)";
    return refusal(small.text());
  };
  const std::string yields_b = R"({"id": "l", "op": "fori_loop", "lower": 0, "upper": ,
"carry": {"h": "a"}, "body": [{"id": "y", "op": "neg", "of": "h"}], "yield": {"h": "b"}})";
  CHECK(yielding(yields_b, 2) ==
        "f:6:13: /program/0: expected to yield an array that every device of program \"main\" has, "
        "got \"b\", which device 2 lacks");
  CHECK(yielding(yields_b, 1) == "");
  CHECK(yielding(R"({"id": "l", "op": "fori_loop", "lower": 0, "upper": ,
"carry": {"h": "b"}, "body": [{"id": "y", "op": "neg", "of": "h"}], "yield": {"h": "a"}})",
                 2) ==
        "f:7:62: /program/0/body/0/of: neg \"l.y\": expected an array that every "
        "device of program \"main\" has, got \"h\", which device 2 lacks (in l)");
}

TEST_CASE("loop: with states checked, a carry varies over the same axes in every iteration") {
  const std::string program =
      "[" + loop(R"({"id": "s", "op": "psum", "of": "h", "axis_name": "x"})", "s") + "]";
  CHECK(refused(program) ==
        "f:5:184: /program/0/yield/h: fori_loop \"l\": expected \"h\" to vary over x, as before "
        "the loop, "
        "got \"s\", f32[2], which does not; pvary what it yields over x (\"check_types\": false "
        "allows it) "
        "(in l)");
  CHECK(refused(R"([{"id": "z", "op": "full", "shape": [2], "dtype": "f32", "fill_value": 0},
    {"id": "l", "op": "fori_loop", "lower": 0, "upper": 2, "carry": {"h": "z"},
     "body": [{"id": "s", "op": "add", "of": ["h", "a"]}], "yield": {"h": "s"}}])") ==
        "f:7:75: /program/1/yield/h: fori_loop \"l\": expected \"h\" not to vary over x, as before "
        "the "
        "loop, got \"s\", f32[2]{V:x}, which does; pvary its initial value over x "
        "(\"check_types\": false allows "
        "it) (in l)");
  CHECK(looping(program, R"("check_types": false)").program.ops.size() == 4);
  const std::string varies =
      R"([{"id": "s", "op": "psum", "of": "a", "axis_name": "x"},
{"id": "l", "op": "fori_loop", "lower": 0, "upper": 3, "carry": {"h": "s"},
"body": [{"id": "y", "op": "add", "of": ["h", "a"]}], "yield": {"h": "y"}}])";
  CHECK(refused(varies) ==
        "f:7:70: /program/1/yield/h: fori_loop \"l\": expected \"h\" not to vary over x, as before "
        "the "
        "loop, got \"y\", f32[2]{V:x}, which does; pvary its initial value over x "
        "(\"check_types\": false "
        "allows it) (in l)");
}

TEST_CASE("loop: keys that do not fit are refused") {
  const auto keys = [](const std::string& given) {
    return refused(R"([{"id": "l", "op": "fori_loop", )" + given + "}]");
  };
  CHECK(keys(R"("lower": 0, "upper": 2)") == "f:5:13: /program/0: missing key \"body\"");
  CHECK(keys(R"("lower": 0, "upper": 2, "body": [], "carry": {"h": "a"})") ==
        "f:5:90: /program/0/carry/h: expected \"yield\" to say what \"h\" is in the next "
        "iteration");
  CHECK(keys(R"("lower": 0, "upper": 2, "body": [], "yield": {"h": "a"})") ==
        "f:5:80: /program/0/yield: expected \"carry\" with what is yielded, got none");
  CHECK(keys(R"("lower": 0, "upper": 2, "body": [], "carry": {}, "yield": {"h": "a"})") ==
        "f:5:103: /program/0/yield/h: expected a name that \"carry\" has, got \"h\"");
  CHECK(keys(R"("lower": 0, "upper": 2, "body": [], "of": "a")") ==
        "f:5:80: /program/0/of: unknown key \"of\"; expected one of \"op\", \"id\", \"lower\", "
        "\"upper\", \"index\", \"carry\", \"yield\", \"body\"");
  CHECK(keys(R"("lower": 0, "upper": 4294967296, "body": [])") ==
        "f:5:65: /program/0/upper: expected a whole number from -2147483648 to 2147483647, got "
        "4294967296");
}

TEST_CASE("loop: iterations are limited before they are expanded") {
  // 41 carries in circles of 2, 3, 5, 7, 11 and 13 are all back only after 30,030 iterations.
  std::string values;
  std::string carry;
  std::string yield;
  for (const int size : {2, 3, 5, 7, 11, 13})
    for (int c = 0; c < size; ++c) {
      const std::string id = fmt::format("c{}_{}", size, c);
      values += fmt::format(R"({{"id": "{}_", "op": "neg", "of": "a"}}, )", id);
      const std::string comma = carry.empty() ? "" : ", ";
      carry += fmt::format(R"({0}"{1}": "{1}_")", comma, id);
      yield += fmt::format(R"({}"{}": "c{}_{}")", comma, id, size, (c + 1) % size);
    }
  // The carries of an iteration count too: 41 values, the loop, and 6,241 iterations of 42.
  CHECK(refused(fmt::format(R"([{}
{{"id": "l", "op": "fori_loop", "lower": 0, "upper": 2147483647, "carry": {{{}}},
"body": [{{"id": "y", "op": "neg", "of": "c2_0"}}], "yield": {{{}}}}}])",
                            values, carry, yield)) ==
        "f:6:1: /program/41: expected at most 262144 ops, got 262164 (--limit ops=N allows more)\n"
        "f:6:1: /program/41: fori_loop: iterations are left out once the carries, which go round, "
        "are all back, and after 6240 they are not");
}

TEST_CASE("loop: where iterations that are named take too many ops, the error says so") {
  // Each of 80 iterations of "l" is written, with some beside it, and each has 80 of "m".
  std::string named;
  for (int n = 1; n <= 80; ++n)
    named += fmt::format(R"(, {{"id": "n{0}", "op": "neg", "of": "l[{1}].m[{1}].y"}})", n, 50 * n);
  const std::string errors = refused(
      R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 10000, "carry": {"h": "a"}, "body": [
{"id": "m", "op": "fori_loop", "lower": 0, "upper": 10000, "carry": {"g": "h"}, "body": [
{"id": "y", "op": "neg", "of": "g"}], "yield": {"g": "y"}}], "yield": {"h": "m"}})" +
      named + "]");
  const std::string why =
      "fori_loop: 80 iterations of it are named, and each is written, with some before and after "
      "it";
  CHECK(errors.find("f:5:13: /program/0: " + why) != std::string::npos);
  CHECK(errors.find("/program/0/body/0: " + why + " (in l[") != std::string::npos);
  CHECK(errors.find("expected at most 262144 ops") != std::string::npos);
}

TEST_CASE("loop: its name is an id like any other") {
  CHECK(refused(R"([{"id": "l", "op": "add", "of": ["a", "a"]}, )" + loop(kAddOfBody, "y") + "]") ==
        "f:5:57: /program/1: expected an unused id, got \"l\", which /program/0 (line 5) already "
        "names");
  // The results of a refused loop are not reported as undefined.
  CHECK(refused("[" + loop(R"({"id": "y", "op": "nonsense"})", "y") +
                R"(, {"id": "z", "op": "add", "of": ["l.h", "a"]}])")
            .find("l.h") == std::string::npos);
}

}  // namespace
}  // namespace orrery
