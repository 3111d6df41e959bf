// Tests "transform": {"vjp": ...} and {"transpose": ...} of programs with loops, compute and take.

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/loops.h"
#include "models/program/rules.h"
#include "models/program/unroll.h"
#include "models/scenario/reader.h"
#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

using test::refusal;
using test::Small;

/// Returns a scenario on {x: 2} with "w", f32[2] on each device, which varies, and the cotangents
/// "ct_r" and "ct_l" of such values.
std::string looped(const std::string& program, const std::string& transform,
                   const std::string& more = "") {
  Small small;
  small.mesh = R"({"x": 2})";
  small.arrays = R"({"w": {"shape": [4], "dtype": "f32", "spec": ["x"]}, )"
                 R"("ct_l": {"shape": [4], "dtype": "f32", "spec": ["x"]})" +
                 more + "}";
  small.program = program;
  small.more = R"("transform": )" + transform;
  return small.text();
}

/// Returns a loop whose result l.h is w to the power of 2^trips.
std::string squares(const std::string& trips) {
  return R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": )" + trips +
         R"(, "carry": {"h": "w"}, "body": [{"id": "y", "op": "mul", "of": ["h", "h"]}], )"
         R"("yield": {"h": "y"}}])";
}

const std::string kOfL = R"({"vjp": {"of": ["l"], "with_respect_to": ["w"]}})";
const std::string kKeepLoops =
    R"({"vjp": {"of": ["l"], "with_respect_to": ["w"], "keep_loops": true}})";

/// Returns "r.bwd = mul(ct_r, w)" for each op.
std::vector<std::string> all_ops(const std::string& text) {
  const Scenario scenario = read_scenario("f", text);
  std::vector<std::string> lines;
  for (const Op& op : scenario.program.ops) {
    std::string operands;
    for (const ValueId operand : op.operands)
      operands += (operands.empty() ? "" : ", ") + scenario.program.value(operand).name;
    lines.push_back(op.name + " = " + op_name(op.kind, op.issue) + "(" + operands + ")");
  }
  return lines;
}

TEST_CASE("vjp: a loop goes back as a loop, with what its iterations saved") {
  CHECK(all_ops(looped(squares("9"), kKeepLoops)) ==
        std::vector<std::string>{
            "zero = full()", "l.h.saved.zeros = full()",
            "l.h.saved.zeros.1 = pvary(l.h.saved.zeros)",
            "l.h.saved.zeros.2 = broadcast_in_dim(l.h.saved.zeros.1)", "l[].i = full()",
            "l[].h.save = reshape(l[].h)",
            "l[].h.save.1 = dynamic_update_slice(l[].h.saved, l[].h.save, l[].i, zero)",
            "l[].y = mul(l[].h, l[].h)", "l.last = full()", "zero.1 = full()", "l.bwd[].i = full()",
            "l.bwd[].position = sub(l.last, l.bwd[].i)",
            "l.bwd[].h.saved = dynamic_slice(l.h.saved, l.bwd[].position, zero.1)",
            "l.bwd[].h.saved.1 = reshape(l.bwd[].h.saved)",
            "l.bwd[].y.bwd = mul(l.bwd[].ct_h, l.bwd[].h.saved.1)",
            "l.bwd[].y.bwd.1 = mul(l.bwd[].h.saved.1, l.bwd[].ct_h)",
            "l.bwd[].y.bwd.2 = add(l.bwd[].y.bwd, l.bwd[].y.bwd.1)"});
}

/// Returns the ops of the backward pass.
std::vector<std::string> backward_ops(const std::string& program, const std::string& transform,
                                      const std::string& more = "") {
  std::vector<std::string> found;
  for (const std::string& line : all_ops(looped(program, transform, more)))
    if (const size_t name = line.find(" = "); line.substr(0, name).find(".bwd") != line.npos)
      found.push_back(line);
  return found;
}

TEST_CASE("vjp: a loop has its first iteration and the last four written out") {
  const std::string program = squares("10");
  const Scenario scenario = read_scenario("f", looped(program, kOfL));
  REQUIRE(scenario.program.loops.size() == 2);
  CHECK(scenario.program.loops[0].lower == 1);
  CHECK(scenario.program.loops[0].upper == 6);
  const std::vector<std::string> ops = all_ops(looped(program, kOfL));
  CHECK(ops.front() == "l[0].y = mul(w, w)");
  // The last one goes back first, and the first one last, both without an array.
  CHECK(backward_ops(program, kOfL).front() == "l[9].y.bwd = mul(ct_l, l[8].y)");
  CHECK(ops.back() == "l[0].y.bwd.2 = add(l[0].y.bwd, l[0].y.bwd.1)");
  const Program written = unrolled(scenario.program, LongLoops::WrittenOut).program;
  for (size_t op = 0; op < written.ops.size(); ++op)
    if (written.ops[op].name == "l[9].y")
      CHECK(names_in_loops(written)[op].op == "l[].y");
}

TEST_CASE("vjp: so many first iterations are written out as begin with other values") {
  // In the first two iterations "k" is not what an iteration made.
  const Scenario scenario =
      read_scenario("f", looped(R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 10, )"
                                R"("carry": {"h": "w", "k": "w"}, "yield": {"h": "y", "k": "h"}, )"
                                R"("body": [{"id": "y", "op": "mul", "of": ["h", "k"]}]}])",
                                R"({"vjp": {"of": ["l.h"], "with_respect_to": ["w"]}})",
                                R"(, "ct_l.h": {"shape": [4], "dtype": "f32", "spec": ["x"]})"));
  REQUIRE(!scenario.program.loops.empty());
  CHECK(scenario.program.loops[0].lower == 2);
}

/// Returns the names of the arrays that iterations save, and those of what the backward pass has
/// from the iteration after, such as "l.bwd[].h.next". The loop has this rest, and its carry "b" is
/// read after it.
std::vector<std::string> saved_by(const std::string& rest) {
  const std::string program = R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 9, )" + rest +
                              R"(}, {"id": "r", "op": "mul", "of": ["l.b", "w"]}])";
  const std::string ct = R"(, "ct_r": {"shape": [4], "dtype": "f32", "spec": ["x"]})";
  std::vector<std::string> saved;
  for (const std::string& op : all_ops(looped(
           program, R"({"vjp": {"of": "r", "with_respect_to": "w", "keep_loops": true}})", ct)))
    if (const size_t end = op.find(".saved.zeros = "); end != op.npos)
      saved.push_back(op.substr(0, end));
    else if (const size_t next = op.find(".next"); next != op.npos)
      saved.push_back(
          op.substr(op.find_last_of(" (", next) + 1, next - op.find_last_of(" (", next) + 4));
  std::sort(saved.begin(), saved.end());
  saved.erase(std::unique(saved.begin(), saved.end()), saved.end());
  return saved;
}

TEST_CASE("vjp: carries that pass a value on have it saved once") {
  using Names = std::vector<std::string>;
  // The gradient of exp reads its result, which is "b" in the next iteration.
  const std::string exp = R"({"id": "y", "op": "exp", "of": )";
  CHECK(saved_by(R"("carry": {"b": "w"}, "yield": {"b": "y"}, "body": [)" + exp + R"("b"}])") ==
        Names{"l.y"});
  CHECK(saved_by(R"("carry": {"b": "w"}, "yield": {"b": "y"}, "body": [)"
                 R"({"id": "m", "op": "mul", "of": ["b", "b"]}, )" +
                 exp + R"("m"}])") == Names{"l.b", "l.bwd[].b.next"});
  // In each iteration "a" is the "b" of the one before.
  CHECK(saved_by(R"("carry": {"a": "w", "b": "w"}, "yield": {"a": "b", "b": "m"},
                    "body": [{"id": "m", "op": "mul", "of": ["a", "b"]}])") ==
        Names{"l.a", "l.bwd[].a.next"});
  CHECK(
      saved_by(R"("carry": {"a": "w", "b": "w", "c": "w"}, "yield": {"a": "b", "b": "c", "c": "n"},
                    "body": [{"id": "m", "op": "mul", "of": ["a", "b"]},
                             {"id": "n", "op": "mul", "of": ["m", "c"]}])") ==
      Names{"l.a", "l.bwd[].a.next", "l.bwd[].b.next", "l.m"});
  // "p" and "q" change places, so each stands for the other one.
  CHECK(
      saved_by(R"("carry": {"b": "w", "q": "w", "p": "w"}, "yield": {"b": "n", "q": "p", "p": "q"},
                    "body": [{"id": "m", "op": "mul", "of": ["b", "p"]},
                             {"id": "n", "op": "mul", "of": ["m", "q"]}])") ==
      Names{"l.b", "l.bwd[].q.next", "l.m", "l.q"});
  // Only "c" is read, so "b", which it is in the next iteration, is not there either.
  CHECK(saved_by(R"("carry": {"c": "w", "b": "w"}, "yield": {"c": "m", "b": "c"},
                    "body": [{"id": "m", "op": "mul", "of": ["c", "c"]}])") == Names{"l.c"});
}

TEST_CASE("vjp: a slice is made again if what it is of would be there anyway, or is small") {
  // Each iteration multiplies by a row of "v", or of an array "u" that is made of it.
  const auto is_again = [](const std::string& of, int trips) {
    const std::string program = fmt::format(
        R"([{{"id": "z", "op": "full", "shape": [], "dtype": "s32", "fill_value": 0}}, )"
        R"({{"id": "u", "op": "sin", "of": "v"}}, {{"id": "l", "op": "fori_loop", "lower": 0, )"
        R"("upper": {}, "index": "i", "carry": {{"h": "w"}}, "yield": {{"h": "y"}}, "body": [)"
        R"({{"id": "s", "op": "dynamic_slice", "of": ["{}", "i", "z"], "slice_sizes": [1, 2]}}, )"
        R"({{"id": "r", "op": "reshape", "of": "s", "new_sizes": [2]}}, )"
        R"({{"id": "y", "op": "mul", "of": ["h", "r"]}}]}}])",
        trips, of);
    const std::string v = R"(, "v": {"shape": [40, 2], "dtype": "f32", "spec": ["x"]})";
    return std::ranges::any_of(
        all_ops(looped(program, R"({"vjp": {"of": "l", "with_respect_to": "w"}})", v)),
        [](const std::string& op) { return op.find(".s.re = ") != std::string::npos; });
  };
  CHECK(is_again("v", 9));
  // A device has 20 rows. 5 iterations are written out.
  CHECK(!is_again("u", 24));
  CHECK(is_again("u", 25));
  // Iterations that are written out hold what each of them needs.
  CHECK(is_again("v", 8));
  CHECK(!is_again("u", 8));
}

TEST_CASE("vjp: the gradient of a slice is added to the slice, in place") {
  const std::string program =
      R"([{"id": "z", "op": "full", "shape": [], "dtype": "s32", "fill_value": 0}, )"
      R"({"id": "l", "op": "fori_loop", "lower": 0, "upper": 9, "index": "i", "carry": {"h": "w"}, )"
      R"("body": [{"id": "s", "op": "dynamic_slice", "of": ["v", "i", "z"], "slice_sizes": [1, 2]}, )"
      R"({"id": "r", "op": "reshape", "of": "s", "new_sizes": [2]}, )"
      R"({"id": "y", "op": "mul", "of": ["h", "r"]}], "yield": {"h": "y"}}])";
  const std::string transform =
      R"({"vjp": {"of": "l", "with_respect_to": "v", "keep_loops": true}})";
  const std::string v = R"(, "v": {"shape": [6, 2], "dtype": "f32", "spec": ["x"]})";
  const std::vector<std::string> ops = backward_ops(program, transform, v);
  REQUIRE(ops.size() > 3);
  CHECK(std::vector<std::string>(ops.end() - 3, ops.end()) ==
        std::vector<std::string>{
            "l.bwd[].s.bwd = dynamic_slice(l.bwd[].ct_v, l.bwd[].position, z)",
            "l.bwd[].s.bwd.1 = add(l.bwd[].s.bwd, l.bwd[].r.bwd)",
            "l.bwd[].s.bwd.2 = dynamic_update_slice(l.bwd[].ct_v, l.bwd[].s.bwd.1, "
            "l.bwd[].position, z)"});
  const Scenario scenario = read_scenario("f", looped(program, transform, v));
  const Op& update = scenario.program.ops.back();
  CHECK(update.donated == std::vector<ValueId>{update.operands[0]});
  // The slice of v is taken again, not saved.
  CHECK(std::count(ops.begin(), ops.end(),
                   "l.bwd[].s.re = dynamic_slice(v, l.bwd[].position, z)") == 1);
}

/// Returns whether each update of a part of an array is written over the array.
bool updates_in_place(const std::string& scenario) {
  const Scenario read = read_scenario("f", scenario);
  size_t updates = 0;
  size_t in_place = 0;
  for (const Op& op : read.program.ops)
    if (op.kind == OpKind::DynamicUpdateSlice) {
      ++updates;
      in_place += op.donated == std::vector<ValueId>{op.operands[0]} ? 1 : 0;
    }
  return updates > 1 && updates == in_place;
}

TEST_CASE("vjp: arrays that a loop carries are updated in place on the way back too") {
  const std::string zero =
      R"([{"id": "z", "op": "full", "shape": [], "dtype": "s32", "fill_value": 0}, )";
  const std::string v = R"(, "v": {"shape": [6, 2], "dtype": "f32", "spec": ["x"]}, )"
                        R"("ct_l.o": {"shape": [6, 2], "dtype": "f32", "spec": ["x"]})";
  // An output of each iteration is written to its row of "o".
  CHECK(updates_in_place(looped(
      zero + R"({"id": "n", "op": "neg", "of": "v"}, {"id": "l", "op": "fori_loop", "lower": 0, )"
             R"("upper": 9, "index": "i", "carry": {"h": "w", "o": "n"}, "body": [)"
             R"({"id": "y", "op": "sin", "of": "h"}, )"
             R"({"id": "r", "op": "reshape", "of": "y", "new_sizes": [1, 2]}, )"
             R"({"id": "u", "op": "dynamic_update_slice", "of": ["o", "r", "i", "z"], )"
             R"("donate": "o"}], "yield": {"h": "y", "o": "u"}}, )"
             R"({"id": "e", "op": "sin", "of": "l.o"}])",
      R"({"vjp": {"of": "e", "with_respect_to": ["w", "v"]}})",
      R"(, "v": {"shape": [6, 2], "dtype": "f32", "spec": ["x"]}, )"
      R"("ct_e": {"shape": [6, 2], "dtype": "f32", "spec": ["x"]})")));
  // All iterations carry the same array on, and read a row of it.
  CHECK(updates_in_place(
      looped(zero + R"({"id": "l", "op": "fori_loop", "lower": 0, "upper": 9, "index": "i", )"
                    R"("carry": {"h": "w", "o": "v"}, "body": [{"id": "s", )"
                    R"("op": "dynamic_slice", "of": ["o", "i", "z"], "slice_sizes": [1, 2]}, )"
                    R"({"id": "r", "op": "reshape", "of": "s", "new_sizes": [2]}, )"
                    R"({"id": "y", "op": "mul", "of": ["h", "r"]}], )"
                    R"("yield": {"h": "y", "o": "o"}}])",
             R"({"vjp": {"of": "l.h", "with_respect_to": ["w", "v"]}})",
             v + R"(, "ct_l.h": {"shape": [4], "dtype": "f32", "spec": ["x"]})")));
}

TEST_CASE("vjp: overlap adds up in the next iteration, so that collectives may run until then") {
  CHECK(backward_ops(R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 9, )"
                     R"("carry": {"h": "w"}, "body": [{"id": "n", "op": "neg", "of": "h"}, )"
                     R"({"id": "p", "op": "psum", "of": "v", "axis_name": "x"}, )"
                     R"({"id": "y", "op": "add", "of": ["n", "p"]}], "yield": {"h": "y"}}])",
                     R"({"vjp": {"of": "l", "with_respect_to": ["v", "w"], "overlap": true, )"
                     R"("keep_loops": true}})",
                     R"(, "v": {"shape": [4], "dtype": "f32", "spec": ["x"]})") ==
        std::vector<std::string>{
            "l.bwd.1 = full()", "l.bwd.2 = pvary(l.bwd.1)", "l.bwd.3 = broadcast_in_dim(l.bwd.2)",
            "l.bwd.first.y.bwd.start = psum_start(ct_l)", "l.bwd.first.n.bwd = neg(ct_l)",
            "l.bwd[].y.bwd = done(l.bwd[].y.bwd.start.before)",
            "l.bwd[].y.bwd.start = psum_start(l.bwd[].ct_h)", "l.bwd[].n.bwd = neg(l.bwd[].ct_h)",
            "l.bwd[].p.bwd = pvary(l.bwd[].y.bwd)",
            "l.bwd[].p.bwd.1 = add(l.bwd[].ct_v.before, l.bwd[].p.bwd)",
            "l.bwd.last.y.bwd = done(l.bwd.y.bwd.start.before)",
            "l.bwd.last.p.bwd = pvary(l.bwd.last.y.bwd)",
            "l.bwd.ct_v = add(l.bwd.ct_v.before, l.bwd.last.p.bwd)"});
}

/// Multiplies by a gathered part of "v" in each iteration. `before` and `after` are other ops.
std::string gathering(const std::string& before, const std::string& after,
                      const std::string& transform) {
  return looped(
      "[" + before +
          R"({"id": "l", "op": "fori_loop", "lower": 0, "upper": 3, "index": "i", )"
          R"("carry": {"h": "w"}, "yield": {"h": "y"}, "body": [)"
          R"({"id": "s", "op": "dynamic_slice", "of": ["v", "i"], "slice_sizes": [1]}, )"
          R"({"id": "g", "op": "all_gather", "of": "s", "axis_name": "x", "axis": 0, "tiled": true},)"
          R"({"id": "y", "op": "mul", "of": ["h", "g"]}]})" +
          after + "]",
      R"({"vjp": {"of": "l", "recompute": "l.g", "prefetch": 1, )" + transform + "}}",
      R"(, "v": {"shape": [6], "dtype": "f32", "spec": ["x"]})");
}

TEST_CASE("vjp: prefetch starts a gather in the iteration before, in both passes") {
  const std::vector<std::string> ops = all_ops(
      gathering(R"({"id": "z", "op": "full", "shape": [], "dtype": "s32", "fill_value": 0}, )", "",
                R"("with_respect_to": "w")"));
  CHECK(ops == std::vector<std::string>{
                   "z = full()",
                   // Before the loop the gather of its first iteration starts.
                   "l.index = full()", "l.s.ahead = dynamic_slice(v, l.index)",
                   "l.g.start = all_gather_start(l.s.ahead)", "l.distance = full()",
                   // Iterations 0 and 1.
                   "l.ahead[].i = full()", "l.ahead[].index.ahead = add(l.ahead[].i, l.distance)",
                   "l.ahead[].s.ahead = dynamic_slice(v, l.ahead[].index.ahead)",
                   "l.ahead[].g.start = all_gather_start(l.ahead[].s.ahead)",
                   "l.ahead[].g = done(l.ahead[].g.started)",
                   "l.ahead[].y = mul(l.ahead[].h, l.ahead[].g)",
                   // The last iteration starts nothing.
                   "l[].i = full()", "l[].g = done(l.ahead.g.started)", "l[].y = mul(l[].h, l[].g)",
                   // Backward it is the gather of the last iteration that starts first.
                   "l.last = full()", "l.bwd.index = full()",
                   "l.bwd.position.ahead = sub(l.last, l.bwd.index)",
                   "l.bwd.s.re.ahead = dynamic_slice(v, l.bwd.position.ahead)",
                   "l.bwd.g.re.start = all_gather_start(l.bwd.s.re.ahead)",
                   "l.bwd.distance = full()", "l.bwd.ahead[].i = full()",
                   "l.bwd.ahead[].index.ahead = add(l.bwd.ahead[].i, l.bwd.distance)",
                   "l.bwd.ahead[].position.ahead = sub(l.last, l.bwd.ahead[].index.ahead)",
                   "l.bwd.ahead[].s.re.ahead = dynamic_slice(v, l.bwd.ahead[].position.ahead)",
                   "l.bwd.ahead[].g.re.start = all_gather_start(l.bwd.ahead[].s.re.ahead)",
                   "l.bwd.ahead[].g.re = done(l.bwd.ahead[].g.re.started)",
                   "l.bwd.ahead[].y.bwd = mul(l.bwd.ahead[].ct_h, l.bwd.ahead[].g.re)",
                   "l.bwd[].i = full()", "l.bwd[].g.re = done(l.bwd.ahead.g.re.started)",
                   "l.bwd[].y.bwd = mul(l.bwd[].ct_h, l.bwd[].g.re)"});
}

TEST_CASE("vjp: prefetch needs loops that stay loops") {
  const std::string nested =
      R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 2, "carry": {"h": "w"}, "yield": )"
      R"({"h": "k"}, "body": [{"id": "k", "op": "fori_loop", "lower": 0, "upper": 2, "index": "i", )"
      R"("carry": {"h": "h"}, "yield": {"h": "y"}, "body": [)"
      R"({"id": "s", "op": "dynamic_slice", "of": ["v", "i"], "slice_sizes": [1]}, )"
      R"({"id": "g", "op": "all_gather", "of": "s", "axis_name": "x", "axis": 0, "tiled": true, )"
      R"("donate": "s"}, {"id": "y", "op": "mul", "of": ["h", "g"]}]}]}])";
  const auto prefetched = [&](const std::string& recompute) {
    return looped(nested,
                  R"({"vjp": {"of": "l", "with_respect_to": "w", "prefetch": 1, "recompute": ")" +
                      recompute + R"("}})",
                  R"(, "v": {"shape": [6], "dtype": "f32", "spec": ["x"]})");
  };
  CHECK(refusal(prefetched("l")) ==
        "f:6:22: /transform/vjp: expected loops that go back as loops, as \"prefetch\" needs them; "
        "they are written out where a single iteration is named, or a loop in a loop is computed "
        "again as a whole (name its ops instead, \"l.k.g\")");
  const std::vector<std::string> ops = all_ops(prefetched("l.k.g"));
  CHECK(std::count(ops.begin(), ops.end(),
                   "l[].k.ahead[].g.start = all_gather_start(l[].k.ahead[].s.ahead)") == 1);
}

TEST_CASE("vjp: loops that transforms make have names that nothing has") {
  const std::vector<std::string> ops =
      all_ops(gathering("",
                        R"(, {"id": "l.ahead.h", "op": "neg", "of": "l"}, )"
                        R"({"id": "l.bwd.y.bwd.start.before", "op": "neg", "of": "l"})",
                        R"("with_respect_to": ["v", "w"], "overlap": true)"));
  CHECK(std::count(ops.begin(), ops.end(),
                   "l.ahead.1[].g.start = all_gather_start(l.ahead.1[].s.ahead)") == 1);
}

TEST_CASE("vjp: prefetch leaves a loop of which an iteration is read as it is") {
  const std::vector<std::string> ops = all_ops(
      gathering("", R"(, {"id": "n", "op": "neg", "of": "l[1].g"})", R"("with_respect_to": "w")"));
  const auto has = [&](const char* op) { return std::count(ops.begin(), ops.end(), op); };
  CHECK(has("l[].g = all_gather(l[].s)") == 1);
  CHECK(has("l.bwd.ahead[].g.re.start = all_gather_start(l.bwd.ahead[].s.re.ahead)") == 1);
}

TEST_CASE("vjp: cotangents of two names of one value are added") {
  CHECK(
      backward_ops(squares("9"),
                   R"({"vjp": {"of": ["l", "l.h"], "with_respect_to": ["w"], "keep_loops": true}})",
                   R"(, "ct_l.h": {"shape": [4], "dtype": "f32", "spec": ["x"]})")
          .front() == "l.h.bwd = add(ct_l, ct_l.h)");
}

TEST_CASE("vjp: a loop has as many ops whatever its length") {
  const Scenario scenario = read_scenario("f", looped(squares("1000000"), kOfL));
  CHECK(scenario.program.ops.size() == all_ops(looped(squares("9"), kOfL)).size());
  REQUIRE(scenario.program.loops.size() == 2);
  CHECK(scenario.program.loops[1].name == "l.bwd");
  CHECK(scenario.program.loops[1].upper == 1'000'000 - 5);
}

TEST_CASE("vjp: a loop whose carries have no values of its body has its ends written out too") {
  const std::string body = R"("body": [{"id": "y", "op": "mul", "of": ["w", "w"]}]})";
  for (const std::string carry :
       {R"()", R"("carry": {"c": "w"}, "yield": {"c": "c"}, )",
        R"("carry": {"swaps": "w", "q": "w"}, "yield": {"swaps": "q", "q": "swaps"}, )"}) {
    CAPTURE(carry);
    const auto read = [&](const std::string& trips) {
      return read_scenario(
          "f", looped(R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": )" + trips + ", " +
                          carry + body + R"(, {"id": "r", "op": "mul", "of": ["w", "w"]}])",
                      R"({"vjp": {"of": ["r"], "with_respect_to": ["w"]}})",
                      R"(, "ct_r": {"shape": [4], "dtype": "f32", "spec": ["x"]})"));
    };
    CHECK(read("8").program.loops.empty());
    const Program program = read("20").program;
    if (carry.find("swaps") != carry.npos) {  // iterations differ
      CHECK(program.loops.empty());
      continue;
    }
    REQUIRE(program.loops.size() == 1);
    CHECK(program.loops[0].lower == 1);
    CHECK(program.loops[0].upper == 16);
  }
}

TEST_CASE("vjp: ops that go back through a loop are of the backward loop") {
  const Scenario scenario = read_scenario("f", looped(squares("9"), kKeepLoops));
  const Program written = unrolled(scenario.program, LongLoops::WrittenOut).program;
  const std::vector<NameInLoops> names = names_in_loops(written);
  CHECK(written.ops.back().name == "l.bwd[8].y.bwd.2");
  CHECK(names.back().op == "l.bwd[].y.bwd.2");
  CHECK(names.back().loop == "l.bwd[]");
}

TEST_CASE("vjp: a loop of which an iteration is named is written out, within the limits") {
  const std::string recompute =
      R"({"vjp": {"of": ["l"], "with_respect_to": ["w"], "recompute": "l[0].y"}})";
  const std::vector<std::string> ops = all_ops(looped(squares("3"), recompute));
  CHECK(ops.front() == "l[0].y = mul(w, w)");
  CHECK(ops.back() == "l[0].y.bwd.2 = add(l[0].y.bwd, l[0].y.bwd.1)");
  Limits limits;
  limits.ops = 100;
  CHECK_THROWS_WITH(read_scenario("f", looped(squares("101"), recompute), limits),
                    "f:6:22: /transform/vjp: expected at most 100 ops with all iterations of loops "
                    "written out, as a backward pass needs them where a single iteration is "
                    "named, or a loop in a loop is computed again (--limit ops=N allows more), got "
                    "101");
  limits.ops = 405;
  CHECK_NOTHROW(read_scenario("f", looped(squares("101"), recompute), limits));
}

/// Returns whether vjp keeps the loops of the program. Its only result "l.h" is of the loop "l".
bool is_kept(const std::string& program, const std::string& more = "") {
  const std::string v = R"(, "v": {"shape": [4], "dtype": "f32", "spec": ["x"]}, )"
                        R"("ct_l.h": {"shape": [4], "dtype": "f32", "spec": ["x"]})";
  return !read_scenario(
              "f",
              looped(program,
                     R"({"vjp": {"of": "l.h", "with_respect_to": ["w", "v"])" + more + "}}", v))
              .program.loops.empty();
}

/// Returns a loop "l" of 9 iterations. An iteration computes y = h * k, and has these carries.
std::string multiplied(const std::string& carry, const std::string& yield,
                       const std::string& before = "") {
  return R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 9, "carry": {"h": "w", )" + carry +
         R"(}, "yield": {"h": "y", )" + yield + R"(}, "body": [)" + before +
         R"({"id": "y", "op": "mul", "of": ["h", "k"]}]}])";
}

TEST_CASE("vjp: loops of up to 8 iterations are written out, unless they are to be kept") {
  CHECK(is_kept(squares("9")));
  CHECK(!is_kept(squares("8")));
  CHECK(is_kept(squares("8"), R"(, "keep_loops": true)"));
  CHECK(is_kept(squares("8"), R"(, "recompute": "all")"));
  // A program with more than 8,192 ops is not written out. This one has 8 * 8 * (2 + 7 * inner).
  const auto nested = [](int inner) {
    std::string ops;
    for (int n = 1; n <= inner; ++n)
      ops += fmt::format(R"({}{{"id": "{}", "op": "neg", "of": "{}"}})", n == 1 ? "" : ", ",
                         n == inner ? "o" : fmt::format("o{}", n),
                         n == 1 ? "e" : fmt::format("o{}", n - 1));
    return R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 8, "carry": {"h": "w"}, )"
           R"("yield": {"h": "k"}, "body": [{"id": "k", "op": "fori_loop", "lower": 0, )"
           R"("upper": 8, "carry": {"g": "h"}, "yield": {"g": "m"}, "body": [)"
           R"({"id": "s", "op": "neg", "of": "g"}, {"id": "n", "op": "fori_loop", "lower": 0, )"
           R"("upper": 7, "carry": {"e": "s"}, "yield": {"e": "o"}, "body": [)" +
           ops + R"(]}, {"id": "m", "op": "neg", "of": "n"}]}]}])";
  };
  CHECK(!is_kept(nested(18)));
  CHECK(is_kept(nested(19)));
}

TEST_CASE("vjp: loops whose iterations differ are written out") {
  CHECK(is_kept(multiplied(R"("k": "v")", R"("k": "k")")));
  CHECK(is_kept(multiplied(R"("k": "v")", R"("k": "v")")));
  CHECK(is_kept(multiplied(R"("k": "w")", R"("k": "y")")));
  // After the first iteration, which is written out, h and k are equal, or k is w.
  CHECK(is_kept(multiplied(R"("k": "v")", R"("k": "y")")));
  CHECK(is_kept(multiplied(R"("k": "v")", R"("k": "w")")));
  // k is v and w by turns.
  CHECK(!is_kept(multiplied(R"("k": "v", "j": "w")", R"("k": "j", "j": "k")")));
  // The last iteration, which is written out, has no gradient of k. All before it have.
  CHECK(is_kept(
      multiplied(R"("k": "v")", R"("k": "n")", R"({"id": "n", "op": "sin", "of": "k"}, )")));
}

TEST_CASE("vjp: a value of a single iteration that is read off the way keeps the loop a loop") {
  const std::string squared = squares("1000000");
  const Scenario scenario =
      read_scenario("f", looped(squared.substr(0, squared.size() - 1) +
                                    R"(, {"id": "e", "op": "neg", "of": "l[3].y"}])",
                                kOfL));
  CHECK(scenario.program.loops.size() == 2);
}

/// Each iteration computes m = sin(h), y = m * m, where h is y of the iteration before.
const std::string kTwoInBody =
    R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 9, "carry": {"h": "w"}, "body": [)"
    R"({"id": "m", "op": "sin", "of": "h"}, {"id": "y", "op": "mul", "of": ["m", "m"]}], )"
    R"("yield": {"h": "y"}}])";

std::vector<std::string> again(const std::string& recompute) {
  std::vector<std::string> found;
  for (const std::string& line :
       all_ops(looped(kTwoInBody, R"({"vjp": {"of": "l", "with_respect_to": "w", "recompute": )" +
                                      recompute + "}}")))
    if (line.find(".re = ") != std::string::npos)
      found.push_back(line);
  return found;
}

TEST_CASE("vjp: a loop's body is computed again from what iterations carry") {
  const std::vector<std::string> all = {"l.bwd[].m.re = sin(l.bwd[].h.saved.1)"};
  for (const char* recompute : {R"("l")", R"("l[].m")", R"("all")"}) {
    CAPTURE(recompute);
    CHECK(again(recompute) == all);
  }
  CHECK(again(R"("l[0].m")") == std::vector<std::string>{"l[0].m.re = sin(w)"});
}

/// Returns the recomputed ops of a loop k in a loop l, each of two iterations. An iteration of k
/// computes n = sin(g), m = n * n.
std::vector<std::string> again_of_nested(const std::string& recompute) {
  std::vector<std::string> found;
  for (
      const std::string& line : all_ops(looped(
          R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 2, "carry": {"h": "w"}, )"
          R"("yield": {"h": "k"}, "body": [{"id": "k", "op": "fori_loop", "lower": 0, )"
          R"("upper": 2, "carry": {"g": "h"}, "yield": {"g": "m"}, "body": [)"
          R"({"id": "n", "op": "sin", "of": "g"}, {"id": "m", "op": "mul", "of": ["n", "n"]}]}]}])",
          R"({"vjp": {"of": "l", "with_respect_to": "w", "keep_loops": true, "recompute": )" +
              recompute + "}}")))
    if (const size_t end = line.find(".re = "); end != std::string::npos)
      found.push_back(line.substr(0, end));
  return found;
}

TEST_CASE("vjp: an index that recompute leaves out, or has as [], means all iterations") {
  using Names = std::vector<std::string>;
  // The inner loop. Its op m is carried on, so only n is recomputed. Then the op n itself.
  for (const char* all : {"l.k", "l[].k", "l[].k[].n", "l.k[].n", "l[].k.n", "l.k.n"}) {
    CAPTURE(all);
    CHECK(again_of_nested(R"([")" + std::string(all) + R"("])") == Names{"l.bwd[].k.bwd[].n"});
  }
  // These name single iterations.
  CHECK(again_of_nested(R"(["l[1].k"])") == Names{"l[1].k[1].n", "l[1].k[0].n"});
  CHECK(again_of_nested(R"(["l[].k[0].n"])") == Names{"l[1].k[0].n", "l[0].k[0].n"});
}

TEST_CASE("vjp: where a loop in a body is computed again, both are written out") {
  // The carries of k are computed again too, but m of its last iteration, which l carries.
  const std::vector<std::string> names = again_of_nested(R"(["l"])");
  CHECK(names == std::vector<std::string>{"l[1].k[0].n", "l[1].k[0].m", "l[1].k[1].n",
                                          "l[0].k[0].n", "l[0].k[0].m", "l[0].k[1].n"});
  CHECK(again_of_nested(R"("all")").front() == "l[0].k[0].n");
}

TEST_CASE("vjp: of a loop without iterations recompute has nothing to compute again") {
  const std::string program =
      R"([{"id": "e", "op": "fori_loop", "lower": 0, "upper": 0, "body": [)"
      R"({"id": "y", "op": "sin", "of": "w"}]}, {"id": "l", "op": "sin", "of": "w"}])";
  for (const std::string name : {"e", "e.y", "e[].y"})
    CHECK(refusal(looped(program, R"({"vjp": {"of": "l", "with_respect_to": "w", "recompute": [")" +
                                      name + R"("]}})")) == "");
}

TEST_CASE("transpose: of a loop") {
  CHECK(all_ops(looped(R"([{"id": "k", "op": "full", "shape": [], "fill_value": 3, )"
                       R"("dtype": "f32"}, {"id": "l", "op": "fori_loop", "lower": 0, "upper": 2, )"
                       R"("carry": {"h": "w"}, "body": [{"id": "y", "op": "mul", )"
                       R"("of": ["h", "k"]}], "yield": {"h": "y"}}])",
                       R"({"transpose": {"of": "l", "with_respect_to": "w"}})")) ==
        std::vector<std::string>{"k = full()", "l[1].y.bwd = mul(ct_l, k)",
                                 "l[0].y.bwd = mul(l[1].y.bwd, k)"});
}

TEST_CASE("transpose: what a loop carried out keeps its name") {
  const Scenario scenario = read_scenario(
      "f", looped(R"([{"id": "k", "op": "full", "shape": [], "fill_value": 3, "dtype": "f32"}, )"
                  R"({"id": "n", "op": "fori_loop", "lower": 0, "upper": 2, "carry": {"h": "k"}, )"
                  R"("body": [{"id": "y", "op": "mul", "of": ["h", "h"]}], "yield": {"h": "y"}}, )"
                  R"({"id": "l", "op": "mul", "of": ["w", "n"]}])",
                  R"({"transpose": {"of": "l", "with_respect_to": "w"}}, "outputs": ["n"])"));
  CHECK(scenario.program.value(scenario.program.outputs[0]).name == "n[1].y");
}

TEST_CASE("transpose: a take that fills with another number than 0 is not linear") {
  CHECK(refusal(looped(R"([{"id": "l", "op": "take", "of": ["w", "i"], "axis": 0, )"
                       R"("fill_value": 9}])",
                       R"({"transpose": {"of": "l", "with_respect_to": "w"}})",
                       R"(, "i": {"shape": [2], "dtype": "s32"})")) ==
        "f:5:13: /program/0: expected an op that is linear in what depends on \"with_respect_to\", "
        "got \"l\": take is not linear with a fill_value that is not 0");
}

TEST_CASE("vjp: transfers are not started by overlap, which could make their halves wait") {
  const std::vector<std::string> ops = all_ops(
      looped(R"([{"id": "s", "op": "psum", "of": "w", "axis_name": "x"}, )"
             R"({"id": "t", "op": "psend", "of": "w", "axis_name": "x", "perm": [[0, 1]]}, )"
             R"({"id": "y", "op": "precv", "of": "t", "shape": [2], "dtype": "f32", )"
             R"("axis_name": "x", "perm": [[0, 1]]}, {"id": "l", "op": "mul", "of": ["s", "y"]}])",
             R"({"vjp": {"of": "l", "with_respect_to": "w", "overlap": true}})"));
  CHECK(ops.size() > 4);
  for (const std::string& op : ops)
    CHECK((op.find("psend_start") == op.npos && op.find("precv_start") == op.npos));
}

std::string computed(const std::string& backward) {
  return R"([{"id": "l", "op": "compute", "of": ["w", "i", "v"], "flops": 10, "bytes": 20, )"
         R"("dtype": "f32", "shape": [2])" +
         backward + "}]";
}
const std::string kOperands = R"(, "i": {"shape": [3], "dtype": "s32"}, )"
                              R"("v": {"shape": [8], "dtype": "bf16", "spec": ["x"]})";

TEST_CASE("vjp: of compute each cotangent has an equal part of the work that is stated") {
  const Scenario scenario = read_scenario(
      "f", looped(computed(R"(, "backward": {"flops": 21, "bytes": "2 kB"})"),
                  R"({"vjp": {"of": "l", "with_respect_to": ["w", "v"]}})", kOperands));
  const Program& program = scenario.program;
  REQUIRE(program.ops.size() == 3);
  const Op& of_w = program.ops[1];
  const Op& of_v = program.ops[2];
  CHECK(of_w.attributes.flops("flops") == Flops(11));
  CHECK(of_v.attributes.flops("flops") == Flops(10));
  CHECK(of_w.attributes.bytes("bytes") == Bytes(1000));
  CHECK(text(program.value(of_w.results[0]).type, program.mesh) == "f32[2]{V:x}");
  CHECK(text(program.value(of_v.results[0]).type, program.mesh) == "bf16[4]{V:x}");
  CHECK(of_w.operands.size() == 4);  // the cotangent, and the op's operands
}

TEST_CASE("vjp: of compute without \"backward\" is refused by name") {
  CHECK(
      refusal(looped(computed(""), R"({"vjp": {"of": "l", "with_respect_to": "w"}})", kOperands)) ==
      "f:5:13: /program/0: expected an op that has a gradient between the values of "
      "\"with_respect_to\" and \"of\", got \"l\": compute has a gradient only with \"backward\", "
      "which states its work");
}

TEST_CASE("compute: \"backward\" states its flops and its bytes") {
  const auto refused = [](const std::string& backward) {
    return refusal(looped(computed(R"(, "backward": )" + backward), kOfL, kOperands));
  };
  CHECK(refused("3") ==
        "f:5:133: /program/0/backward: expected an object such as {\"flops\": \"2 TFLOP\", "
        "\"bytes\": \"1 GiB\"}, got 3");
  CHECK(refused(R"({"flops": 1})") == "f:5:133: /program/0/backward: missing key \"bytes\"");
}

TEST_CASE("vjp: rows that were taken get the sum of their cotangents") {
  CHECK(all_ops(looped(R"([{"id": "l", "op": "take", "of": ["w", "i"], "axis": 0}])",
                       R"({"vjp": {"of": "l", "with_respect_to": "w"}})",
                       R"(, "i": {"shape": [2], "dtype": "s32"})")) ==
        std::vector<std::string>{"l = take(w, i)", "l.bwd = full()", "l.bwd.1 = pvary(l.bwd)",
                                 "l.bwd.2 = scatter_add(l.bwd.1, ct_l, i)"});
}

TEST_CASE("vjp: updates that were added get the rows where they went") {
  CHECK(all_ops(looped(R"([{"id": "l", "op": "scatter_add", "of": ["w", "w", "i"], "axis": 0}])",
                       R"({"vjp": {"of": "l", "with_respect_to": "w"}})",
                       R"(, "i": {"shape": [2], "dtype": "s32"})")) ==
        std::vector<std::string>{"l = scatter_add(w, w, i)", "l.bwd = take(ct_l, i)",
                                 "l.bwd.1 = add(ct_l, l.bwd)"});
}

}  // namespace
}  // namespace orrery
