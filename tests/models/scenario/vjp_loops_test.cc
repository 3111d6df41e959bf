// Tests how loops go back: what their iterations save, and which are written out.

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/loops.h"
#include "models/program/unroll.h"
#include "models/scenario/reader.h"
#include "tests/models/scenario/vjp_rig.h"

namespace orrery::test {
namespace {

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

TEST_CASE("vjp: one more last iteration is written out than a loop has carries, at least four") {
  // "h" is the product of "h" and the last of the carries, which pass it on to each other.
  const auto upper = [](int carries) {
    std::string carry;
    std::string yield;
    for (int c = 1; c < carries; ++c) {
      carry += fmt::format(R"(, "k{}": "w")", c);
      yield += fmt::format(R"(, "k{}": "{}")", c, c == 1 ? "h" : fmt::format("k{}", c - 1));
    }
    const std::string program = fmt::format(
        R"([{{"id": "l", "op": "fori_loop", "lower": 0, "upper": 40, "carry": {{"h": "w"{}}}, )"
        R"("yield": {{"h": "y"{}}}, "body": [{{"id": "y", "op": "mul", "of": ["h", "{}"]}}]}}])",
        carry, yield, carries == 1 ? "h" : fmt::format("k{}", carries - 1));
    return read_scenario("f",
                         looped(program, R"({"vjp": {"of": "l.h", "with_respect_to": "w"}})",
                                R"(, "ct_l.h": {"shape": [4], "dtype": "f32", "spec": ["x"]})"))
        .program.loops[0]
        .upper;
  };
  CHECK(upper(1) == 36);
  CHECK(upper(3) == 36);
  CHECK(upper(4) == 35);
  CHECK(upper(6) == 33);
}

TEST_CASE("vjp: four last iterations are written out if more would be over 8,192 ops") {
  // Each of four carries is made of the next one. A chain of ops that nothing reads fills the body.
  const auto upper = [](int ops) {
    std::string body =
        R"({"id": "p", "op": "sin", "of": "b"}, {"id": "q", "op": "sin", "of": "c"}, )"
        R"({"id": "r", "op": "sin", "of": "d"}, {"id": "o4", "op": "sin", "of": "a"})";
    for (int o = 5; o <= ops; ++o)
      body += fmt::format(R"(, {{"id": "o{}", "op": "sin", "of": "o{}"}})", o, o - 1);
    const std::string program =
        fmt::format(R"([{{"id": "l", "op": "fori_loop", "lower": 0, "upper": 200, )"
                    R"("carry": {{"a": "w", "b": "w", "c": "w", "d": "w"}}, )"
                    R"("yield": {{"a": "p", "b": "q", "c": "r", "d": "o4"}}, "body": [{}]}}])",
                    body);
    return read_scenario("f",
                         looped(program, R"({"vjp": {"of": "l.a", "with_respect_to": "w"}})",
                                R"(, "ct_l.a": {"shape": [4], "dtype": "f32", "spec": ["x"]})"))
        .program.loops[0]
        .upper;
  };
  // The first iteration, those of the loop as one, and one more last one than carries: 7 in all.
  CHECK(upper(8192 / 7) == 200 - 5);
  CHECK(upper(8192 / 7 + 1) == 200 - 4);
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
  // "b" is only passed on.
  CHECK(
      saved_by(R"("carry": {"a": "w", "b": "w", "c": "w"}, "yield": {"a": "b", "b": "c", "c": "m"},
                    "body": [{"id": "m", "op": "mul", "of": ["a", "c"]}])") ==
      Names{"l.a", "l.bwd[].b.next"});
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

TEST_CASE("vjp: iterations that are written out take again no slice of a carry, and no update") {
  // Each iteration multiplies by a row of the carry "c".
  const auto is_again = [](const std::string& update, int trips) {
    const std::string program = fmt::format(
        R"([{{"id": "z", "op": "full", "shape": [], "dtype": "s32", "fill_value": 0}}, )"
        R"({{"id": "l", "op": "fori_loop", "lower": 0, "upper": {}, "index": "i", )"
        R"("carry": {{"h": "w", "c": "v"}}, "yield": {{"h": "y", "c": "u"}}, "body": [)"
        R"({{"id": "s", "op": "dynamic_slice", "of": ["c", "i", "z"], "slice_sizes": [1, 2]}}, )"
        R"({{"id": "r", "op": "reshape", "of": "s", "new_sizes": [2]}}, )"
        R"({{"id": "y", "op": "mul", "of": ["h", "r"]}}, {}]}}])",
        trips, update);
    const std::string v = R"(, "v": {"shape": [80, 2], "dtype": "f32", "spec": ["x"]})";
    const std::vector<std::string> ops =
        all_ops(looped(program, R"({"vjp": {"of": "l.h", "with_respect_to": "w"}})",
                       v + R"(, "ct_l.h": {"shape": [4], "dtype": "f32", "spec": ["x"]})"));
    return std::ranges::any_of(ops, [](const std::string& op) {
      // That of the first iteration is of "v", an argument.
      return op.find(".re = ") != op.npos && op.find("l[0].") == op.npos &&
             op.find(" = full()") == op.npos;
    });
  };
  const std::string moved = R"({"id": "u", "op": "neg", "of": "c"})";
  const std::string updated =
      R"({"id": "o", "op": "reshape", "of": "w", "new_sizes": [1, 2]}, )"
      R"({"id": "u", "op": "dynamic_update_slice", "of": ["c", "o", "i", "z"]})";
  for (const int trips : {5, 20}) {  // written out whole, and the first and the last
    CAPTURE(trips);
    CHECK(!is_again(moved, trips));
    CHECK(!is_again(updated, trips));
  }
}

TEST_CASE("vjp: a slice to which a collective's result is added is taken when that is done") {
  const std::vector<std::string> ops = backward_ops(
      R"([{"id": "z", "op": "full", "shape": [], "dtype": "s32", "fill_value": 0}, )"
      R"({"id": "l", "op": "fori_loop", "lower": 0, "upper": 20, "index": "i", )"
      R"("carry": {"h": "w"}, "yield": {"h": "y"}, "body": [)"
      R"({"id": "s", "op": "dynamic_slice", "of": ["v", "i", "z"], "slice_sizes": [1, 2]}, )"
      R"({"id": "r", "op": "reshape", "of": "s", "new_sizes": [2]}, )"
      R"({"id": "g", "op": "ppermute", "of": "r", "axis_name": "x", "perm": [[0, 1], [1, 0]]}, )"
      R"({"id": "y", "op": "add", "of": ["h", "g"]}]}])",
      R"({"vjp": {"of": "l", "with_respect_to": "v", "overlap": true, "keep_loops": true}})",
      R"(, "v": {"shape": [40, 2], "dtype": "f32", "spec": ["x"]})");
  const auto done = std::ranges::find_if(
      ops, [](const std::string& op) { return op.starts_with("l.bwd[].g.bwd = done"); });
  const auto slice = std::ranges::find_if(
      ops, [](const std::string& op) { return op.starts_with("l.bwd[].s.bwd = dynamic_slice"); });
  REQUIRE(done != ops.end());
  REQUIRE(slice != ops.end());
  CHECK(done < slice);
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

TEST_CASE("vjp: loops are written out if only some iterations depend on the arguments") {
  // An iteration makes the next "h" of "k".
  const auto is_kept_for = [](const char* const arguments, const char* const k) {
    const std::string program = fmt::format(
        R"([{{"id": "l", "op": "fori_loop", "lower": 0, "upper": 20, )"
        R"("carry": {{"h": "v", "k": "w"}}, "yield": {{"h": "n", "k": "{}"}}, )"
        R"("body": [{{"id": "n", "op": "sin", "of": "k"}}, {{"id": "m", "op": "sin", "of": "h"}}]}}, )"
        R"({{"id": "r", "op": "mul", "of": ["l.h", "l.k"]}}])",
        k);
    return !read_scenario(
                "f",
                looped(program,
                       fmt::format(R"({{"vjp": {{"of": "r", "with_respect_to": {}}}}})", arguments),
                       R"(, "v": {"shape": [4], "dtype": "f32", "spec": ["x"]}, )"
                       R"("ct_r": {"shape": [4], "dtype": "f32", "spec": ["x"]})"))
                .program.loops.empty();
  };
  CHECK(is_kept_for(R"(["v", "w"])", "m"));
  // "v" is in "h" and "k" by turns.
  CHECK(!is_kept_for(R"("v")", "m"));
  CHECK(!is_kept_for(R"("w")", "m"));
  // "w" is in both after the first iteration, which is written out.
  CHECK(is_kept_for(R"("w")", "n"));
}

TEST_CASE("vjp: first iterations are written out until all carries depend on the arguments") {
  // "k" depends on "w" after the first iteration, and "h" after the second one.
  const Program program =
      read_scenario("f", looped(R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 20, )"
                                R"("carry": {"h": "v", "k": "v", "j": "w"}, )"
                                R"("yield": {"h": "n", "k": "m", "j": "o"}, "body": [)"
                                R"({"id": "n", "op": "mul", "of": ["h", "k"]}, )"
                                R"({"id": "m", "op": "mul", "of": ["k", "j"]}, )"
                                R"({"id": "o", "op": "sin", "of": "j"}]}])",
                                R"({"vjp": {"of": ["l.h"], "with_respect_to": ["w"]}})",
                                R"(, "v": {"shape": [4], "dtype": "f32", "spec": ["x"]}, )"
                                R"("ct_l.h": {"shape": [4], "dtype": "f32", "spec": ["x"]})"))
          .program;
  REQUIRE(!program.loops.empty());
  CHECK(program.loops[0].lower == 2);
}

TEST_CASE("vjp: a value of a single iteration that is read off the way keeps the loop a loop") {
  const std::string squared = squares("1000000");
  const Scenario scenario =
      read_scenario("f", looped(squared.substr(0, squared.size() - 1) +
                                    R"(, {"id": "e", "op": "neg", "of": "l[3].y"}])",
                                kOfL));
  CHECK(scenario.program.loops.size() == 2);
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

}  // namespace
}  // namespace orrery::test
