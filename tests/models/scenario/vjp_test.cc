// "transform": {"vjp": ...}: the ops that it adds, and what is refused. The values of backward
// passes are compared with JAX's in tests/oracle.

#include <string>

#include <doctest/doctest.h>

#include "models/program/rules.h"
#include "models/scenario/reader.h"
#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

using test::error_of;
using test::refusal;
using test::Small;

/// On {x: 2}: "a", f32[2] on a device and the same on both; "w", f32[2] on a device, which varies;
/// and what `more` says.
std::string with_vjp(const std::string& program, const std::string& vjp,
                     const std::string& cotangent = R"("ct_r": {"shape": [2], "dtype": "f32"})") {
  Small small;
  small.mesh = R"({"x": 2})";
  small.arrays = R"({"a": {"shape": [2], "dtype": "f32"}, "w": {"shape": [4], "dtype": "f32", )"
                 R"("spec": ["x"]}, "i": {"shape": [2], "dtype": "s32"})" +
                 (cotangent.empty() ? "" : ", " + cotangent) + "}";
  small.program = program;
  small.more = R"("transform": {"vjp": {)" + vjp + "}}";
  return small.text();
}

/// The ops after the forward pass, a line each: "r.bwd = pvary(ct_r): f32[2]{V:x}"; then the names
/// of cotangents.
std::string added(const std::string& text) {
  const Scenario scenario = read_scenario("f", text);
  const Program& program = scenario.program;
  std::string lines;
  for (const Op& op : program.ops) {
    if (op.name.find(".bwd") == std::string::npos && op.name.find(".re") == std::string::npos)
      continue;
    std::string operands;
    for (const ValueId operand : op.operands)
      operands += (operands.empty() ? "" : ", ") + program.value(operand).name;
    lines += op.name + " = " + op_name(op.kind, op.issue) + "(" + operands +
             "): " + orrery::text(program.value(op.results.front()).type, program.mesh) + "\n";
  }
  for (const auto& [name, value] : program.other_names)
    lines += name + " = " + program.value(value).name + "\n";
  return lines;
}

const std::string kOfR = R"("of": ["r"], "with_respect_to": ["w"])";

TEST_CASE("vjp: psum goes back as pvary where states are known") {
  CHECK(added(with_vjp(R"([{"id": "r", "op": "psum", "of": "w", "axis_name": "x"}])", kOfR)) ==
        "r.bwd = pvary(ct_r): f32[2]{V:x}\n"
        "ct_w = r.bwd\n");
}

TEST_CASE("vjp: the cotangent of an invarying value that varying ones are made of is summed") {
  CHECK(added(with_vjp(R"([{"id": "r", "op": "mul", "of": ["a", "w"]}])",
                       R"("of": ["r"], "with_respect_to": ["a"])",
                       R"("ct_r": {"shape": [4], "dtype": "f32", "spec": ["x"]})")) ==
        "r.bwd = mul(ct_r, w): f32[2]{V:x}\n"
        "r.bwd.1 = psum(r.bwd): f32[2]\n"
        "ct_a = r.bwd.1\n");
}

TEST_CASE("vjp: the zeros around the cotangent of a reduced array are addends too") {
  const auto of = [](const std::string& op, const std::string& type) {
    return added(with_vjp(R"([{"id": "r", )" + op + "}]",
                          R"("of": ["r"], "with_respect_to": ["q"])",
                          R"("q": {"shape": [2], "dtype": "f32", "reduced": ["x"]}, "ct_r": {)" +
                              type + R"(, "unreduced": ["x"]})"));
  };
  CHECK(of(R"("op": "slice", "of": "q", "start_indices": [0], "limit_indices": [1])",
           R"("shape": [1], "dtype": "f32")") ==
        "r.bwd = full(): f32[]\n"
        "r.bwd.1 = pvary(r.bwd): f32[]{V:x}\n"
        "r.bwd.2 = vary_unreduced_cast(r.bwd.1): f32[]{U:x}\n"
        "r.bwd.3 = pad(ct_r, r.bwd.2): f32[2]{U:x}\n"
        "ct_q = r.bwd.3\n");
  CHECK(of(R"("op": "dynamic_slice", "of": ["q", "k"], "slice_sizes": [1])",
           R"("shape": [1], "dtype": "f32", "unreduced": ["x"]}, "k": {"shape": [], )"
           R"("dtype": "s32"}, "z": {"shape": [1], "dtype": "f32")") ==
        "r.bwd = full(): f32[2]\n"
        "r.bwd.1 = pvary(r.bwd): f32[2]{V:x}\n"
        "r.bwd.2 = vary_unreduced_cast(r.bwd.1): f32[2]{U:x}\n"
        "r.bwd.3 = dynamic_update_slice(r.bwd.2, ct_r, k): f32[2]{U:x}\n"
        "ct_q = r.bwd.3\n");
  CHECK(of(R"("op": "convert_element_type", "of": "q", "new_dtype": "bf16")",
           R"("shape": [2], "dtype": "bf16")") ==
        "r.bwd = convert_element_type(ct_r): f32[2]{U:x}\n"
        "ct_q = r.bwd\n");
  // Its factor is as reduced as the result that it divides.
  CHECK(of(R"("op": "sqrt", "of": "q")", R"("shape": [2], "dtype": "f32")") ==
        "r.bwd = full(): f32[]\n"
        "r.bwd.1 = preduced(r.bwd): f32[]{R:x}\n"
        "r.bwd.2 = div(r.bwd.1, r): f32[2]{R:x}\n"
        "r.bwd.3 = mul(ct_r, r.bwd.2): f32[2]{U:x}\n"
        "ct_q = r.bwd.3\n");
  // Only a product takes addends, so they are multiplied by the inverse.
  CHECK(of(R"("op": "log", "of": "q")", R"("shape": [2], "dtype": "f32")") ==
        "r.bwd = full(): f32[]\n"
        "r.bwd.1 = preduced(r.bwd): f32[]{R:x}\n"
        "r.bwd.2 = div(r.bwd.1, q): f32[2]{R:x}\n"
        "r.bwd.3 = mul(ct_r, r.bwd.2): f32[2]{U:x}\n"
        "ct_q = r.bwd.3\n");
}

TEST_CASE("vjp: the zeros beside the cotangent of a reduced array that is cast to varying vary") {
  // "q" is reduced; what it is put beside, or where it is read, varies.
  const auto of = [](const std::string& op, const std::string& with_respect_to,
                     const std::string& more = "") {
    return added(
        with_vjp(R"([{"id": "j", "op": "axis_index", "axis_name": "x"}, {"id": "r", )" + op + "}]",
                 R"("of": ["r"], "with_respect_to": [")" + with_respect_to + "\"]",
                 R"("q": {"shape": [2], "dtype": "f32", "reduced": ["x"]},
                         "ct_r": {"shape": [4], "dtype": "f32", "spec": ["x"]})" +
                     more));
  };
  CHECK(of(R"("op": "dynamic_update_slice", "of": ["w", "q", "j"])", "w") ==
        "r.bwd = full(): f32[2]\n"
        "r.bwd.1 = pvary(r.bwd): f32[2]{V:x}\n"
        "r.bwd.2 = dynamic_update_slice(ct_r, r.bwd.1, j): f32[2]{V:x}\n"
        "ct_w = r.bwd.2\n");
  CHECK(of(R"("op": "dynamic_update_slice", "of": ["w", "q", "j"])", "q") ==
        "r.bwd = dynamic_slice(ct_r, j): f32[2]{V:x}\n"
        "r.bwd.1 = vary_unreduced_cast(r.bwd): f32[2]{U:x}\n"
        "ct_q = r.bwd.1\n");
  CHECK(of(R"("op": "dynamic_slice", "of": ["q", "j"], "slice_sizes": [2])", "q") ==
        "r.bwd = full(): f32[2]\n"
        "r.bwd.1 = pvary(r.bwd): f32[2]{V:x}\n"
        "r.bwd.2 = dynamic_update_slice(r.bwd.1, ct_r, j): f32[2]{V:x}\n"
        "r.bwd.3 = vary_unreduced_cast(r.bwd.2): f32[2]{U:x}\n"
        "ct_q = r.bwd.3\n");
  // Of nothing, with a scalar that varies around it.
  CHECK(of(R"("op": "pad", "of": ["e", "s"], "padding_config": [[2, 0, 0]])", "e",
           R"(, "e": {"shape": [0], "dtype": "f32", "reduced": ["x"]},
              "s": {"local_shape": [], "dtype": "f32", "varying": ["x"], "per_device": [[0], [0]]})") ==
        "r.bwd = full(): f32[0]\n"
        "r.bwd.1 = pvary(r.bwd): f32[0]{V:x}\n"
        "r.bwd.2 = vary_unreduced_cast(r.bwd.1): f32[0]{U:x}\n"
        "ct_e = r.bwd.2\n");
}

TEST_CASE("vjp: the cotangent of an invarying scalar around a reduced array is summed") {
  CHECK(added(with_vjp(
            R"([{"id": "r", "op": "pad", "of": ["q", "s"], "padding_config": [[1, 0, 0]]}])",
            R"("of": ["r"], "with_respect_to": ["s"])",
            R"("q": {"shape": [0], "dtype": "f32", "reduced": ["x"]},
                      "s": {"shape": [], "dtype": "f32"},
                      "ct_r": {"shape": [1], "dtype": "f32", "unreduced": ["x"]})")) ==
        "r.bwd = full(): f32[0]\n"
        "r.bwd.1 = pvary(r.bwd): f32[0]{V:x}\n"
        "r.bwd.2 = vary_unreduced_cast(r.bwd.1): f32[0]{U:x}\n"
        "r.bwd.3 = reduce_sum(ct_r): f32[]{U:x}\n"
        "r.bwd.4 = reduce_sum(r.bwd.2): f32[]{U:x}\n"
        "r.bwd.5 = sub(r.bwd.3, r.bwd.4): f32[]{U:x}\n"
        "r.bwd.6 = unreduced_psum(r.bwd.5): f32[]\n"
        "ct_s = r.bwd.6\n");
}

TEST_CASE("vjp: a rank's part of a gathered dimension beyond s32 is found in s64") {
  const auto of = [](int64_t extent) {
    Small small;
    small.mesh = R"({"x": 2})";
    const std::string whole = std::to_string(2 * extent);
    small.arrays = R"({"w": {"shape": [)" + whole + R"(], "dtype": "f8e5m2", "spec": ["x"]}, )" +
                   R"("ct_r": {"shape": [)" + whole + R"(], "dtype": "f8e5m2"}})";
    small.program = R"([{"id": "r", "op": "all_gather_invariant", "of": "w", "axis_name": "x", )"
                    R"("axis": 0, "tiled": true}])";
    small.more = R"("transform": {"vjp": {)" + kOfR + "}}";
    const std::string lines = added(small.text());
    return lines.substr(0, lines.find("r.bwd.3"));
  };
  CHECK(of((int64_t{1} << 30) - 1) ==
        "r.bwd = axis_index(): s32[]{V:x}\n"
        "r.bwd.1 = full(): s32[]\n"
        "r.bwd.2 = mul(r.bwd, r.bwd.1): s32[]{V:x}\n");
  CHECK(of(int64_t{1} << 30) ==
        "r.bwd = axis_index(): s32[]{V:x}\n"
        "r.bwd.1 = convert_element_type(r.bwd): s64[]{V:x}\n"
        "r.bwd.2 = full(): s64[]\n");
}

TEST_CASE("vjp: cotangents of a value that is read twice are added, the last reader's first") {
  CHECK(added(with_vjp(R"([{"id": "s", "op": "neg", "of": "a"}, )"
                       R"({"id": "t", "op": "neg", "of": "s"}, )"
                       R"({"id": "r", "op": "add", "of": ["s", "t"]}])",
                       R"("of": ["r"], "with_respect_to": ["a"])")) ==
        "t.bwd = neg(ct_r): f32[2]\n"
        "t.bwd.1 = add(ct_r, t.bwd): f32[2]\n"
        "s.bwd = neg(t.bwd.1): f32[2]\n"
        "ct_a = s.bwd\n");
}

TEST_CASE("vjp: a cotangent that nothing gives is zeros, of the type of one") {
  CHECK(added(with_vjp(R"([{"id": "r", "op": "neg", "of": "a"}])", kOfR)) ==
        "w.bwd = full(): f32[2]\n"
        "w.bwd.1 = pvary(w.bwd): f32[2]{V:x}\n"
        "ct_w = w.bwd.1\n");
}

TEST_CASE("vjp: a scalar that stands for an array gets the sum of its cotangent") {
  Small small;
  small.mesh = R"({"x": 2})";
  small.arrays = R"({"s": {"shape": [], "dtype": "f32"}, "b": {"shape": [3], "dtype": "f32"}, )"
                 R"("ct_r": {"shape": [3], "dtype": "f32"}})";
  small.program = R"([{"id": "r", "op": "add", "of": ["s", "b"]}])";
  small.more = R"("transform": {"vjp": {"of": "r", "with_respect_to": "s"}})";
  CHECK(added(small.text()) ==
        "r.bwd = reduce_sum(ct_r): f32[]\n"
        "ct_s = r.bwd\n");
}

TEST_CASE("vjp: overlap starts a collective when its operand is made, and is done before its use") {
  const std::string program =
      R"([{"id": "g", "op": "all_gather", "of": "w", "axis_name": "x", "tiled": true}, )"
      R"({"id": "r", "op": "neg", "of": "g"}, {"id": "s", "op": "exp", "of": "w"}])";
  const std::string cotangents = R"("ct_r": {"shape": [8], "dtype": "f32", "spec": ["x"]}, )"
                                 R"("ct_s": {"shape": [4], "dtype": "f32", "spec": ["x"]})";
  CHECK(added(with_vjp(program, R"("of": ["r", "s"], "with_respect_to": ["w"], "overlap": true)",
                       cotangents)) ==
        "s.bwd = mul(ct_s, s): f32[2]{V:x}\n"
        "r.bwd = neg(ct_r): f32[4]{V:x}\n"
        "g.bwd.start = psum_scatter_start(r.bwd): future f32[2]{V:x}\n"
        "g.bwd = done(g.bwd.start): f32[2]{V:x}\n"
        "g.bwd.1 = add(s.bwd, g.bwd): f32[2]{V:x}\n"
        "ct_w = g.bwd.1\n");
}

TEST_CASE("vjp: what is computed again is made of what is kept, just before it is read") {
  const std::string program = R"([{"id": "s", "op": "exp", "of": "w"}, )"
                              R"({"id": "t", "op": "exp", "of": "s"}, )"
                              R"({"id": "r", "op": "psum", "of": "t", "axis_name": "x"}])";
  CHECK(added(with_vjp(program, kOfR + R"(, "recompute": ["t"])")) ==
        "r.bwd = pvary(ct_r): f32[2]{V:x}\n"
        "t.re = exp(s): f32[2]{V:x}\n"
        "t.bwd = mul(r.bwd, t.re): f32[2]{V:x}\n"
        "s.bwd = mul(t.bwd, s): f32[2]{V:x}\n"
        "ct_w = s.bwd\n");
  CHECK(added(with_vjp(program, kOfR + R"(, "recompute": "all")")) ==
        "r.bwd = pvary(ct_r): f32[2]{V:x}\n"
        "s.re = exp(w): f32[2]{V:x}\n"
        "t.re = exp(s.re): f32[2]{V:x}\n"
        "t.bwd = mul(r.bwd, t.re): f32[2]{V:x}\n"
        "s.bwd = mul(t.bwd, s.re): f32[2]{V:x}\n"
        "ct_w = s.bwd\n");
}

TEST_CASE("vjp: what is computed again is not started before it is read") {
  const std::string program =
      R"([{"id": "g", "op": "all_gather", "of": "w", "axis_name": "x", "tiled": true}, )"
      R"({"id": "r", "op": "exp", "of": "g"}])";
  CHECK(added(with_vjp(program, kOfR + R"(, "recompute": "all", "overlap": true)",
                       R"("ct_r": {"shape": [8], "dtype": "f32", "spec": ["x"]})")) ==
        "g.re = all_gather(w): f32[4]{V:x}\n"
        "r.re = exp(g.re): f32[4]{V:x}\n"
        "r.bwd = mul(ct_r, r.re): f32[4]{V:x}\n"
        "g.bwd.start = psum_scatter_start(r.bwd): future f32[2]{V:x}\n"
        "g.bwd = done(g.bwd.start): f32[2]{V:x}\n"
        "ct_w = g.bwd\n");
}

TEST_CASE("vjp: names that are taken are not used again") {
  CHECK(added(with_vjp(
            R"([{"id": "r", "op": "neg", "of": "a"}, {"id": "r.bwd", "op": "exp", "of": "a"}])",
            R"("of": ["r"], "with_respect_to": ["a"])")) ==
        "r.bwd = exp(a): f32[2]\n"
        "r.bwd.1 = neg(ct_r): f32[2]\n"
        "ct_a = r.bwd.1\n");
}

TEST_CASE("vjp: a second one keeps the cotangents of the first") {
  Small small;
  small.mesh = R"({"x": 2})";
  small.arrays = R"({"a": {"shape": [], "dtype": "f32"}, "b": {"shape": [], "dtype": "f32"}, )"
                 R"("ct_r": {"shape": [], "dtype": "f32"}, "ct_s": {"shape": [], "dtype": "f32"}})";
  small.program = R"([{"id": "r", "op": "neg", "of": "a"}, {"id": "s", "op": "neg", "of": "b"}])";
  small.more = R"("transform": [{"vjp": {"of": "r", "with_respect_to": "a"}}, )"
               R"({"vjp": {"of": "s", "with_respect_to": "b"}}], "outputs": ["ct_a", "ct_b"])";
  CHECK(added(small.text()) ==
        "r.bwd = neg(ct_r): f32[]\n"
        "s.bwd = neg(ct_s): f32[]\n"
        "ct_a = r.bwd\n"
        "ct_b = s.bwd\n");
}

TEST_CASE("vjp: permutations and broadcasts go back within their groups") {
  Small small;
  small.mesh = R"({"x": 4})";
  small.arrays =
      R"({"a": {"shape": [4], "dtype": "f32", "spec": ["x"]}, )"
      R"("ct_r": {"local_shape": [1], "dtype": "f32", "per_device": [[1], [2], [3], [4]]}})";
  const auto groups_of = [&](const std::string& op) {
    small.program = R"([{"id": "r", "op": ")" + op +
                    R"(, "of": "a", "axis_name": "x", "axis_index_groups": [[0, 1], [2, 3]]}])";
    small.more =
        R"("check_types": false, "transform": {"vjp": {"of": "r", "with_respect_to": "a"}})";
    const Scenario scenario = read_scenario("f", small.text());
    const Attributes& attributes = scenario.program.ops.at(1).attributes;
    return attributes.lists("axis_index_groups");
  };
  const std::vector<std::vector<int64_t>> groups = {{0, 1}, {2, 3}};
  CHECK(groups_of(R"(ppermute", "perm": [[0, 1]])") == groups);
  CHECK(groups_of(R"(pshuffle", "perm": [1, 0])") == groups);
  CHECK(groups_of(R"(pbroadcast", "source": 1)") == groups);
}

TEST_CASE("vjp: a started collective goes back as a sync one") {
  CHECK(added(with_vjp(R"([{"id": "f", "op": "psum_start", "of": "w", "axis_name": "x"}, )"
                       R"({"id": "r", "op": "done", "of": "f"}])",
                       kOfR)) ==
        "f.bwd = pvary(ct_r): f32[2]{V:x}\n"
        "ct_w = f.bwd\n");
}

const std::string kVaryingCtR = R"("ct_r": {"shape": [4], "dtype": "f32", "spec": ["x"]})";
const std::string kSend =
    R"({"id": "t", "op": "psend", "of": "w", "axis_name": "x", "perm": [[0, 1]]})";

std::string received(const std::string& id, const std::string& token = "t") {
  return R"({"id": ")" + id + R"(", "op": "precv", "of": ")" + token +
         R"(", "axis_name": "x", "perm": [[0, 1]], "shape": [2], "dtype": "f32"})";
}

TEST_CASE("vjp: a transfer goes back as one, the other way round") {
  CHECK(added(with_vjp("[" + kSend + ", " + received("r") + "]", kOfR, kVaryingCtR)) ==
        "r.bwd = psend(ct_r): token{V:x}\n"
        "t.bwd = precv(r.bwd): f32[2]{V:x}\n"
        "ct_w = t.bwd\n");
  // A barrier orders what goes back too. A token that nothing takes has nothing to give back.
  CHECK(added(with_vjp(
            "[" + kSend +
                R"(, {"id": ["b", "u"], "op": "optimization_barrier", "of": ["w", "t"]}, )" +
                received("r", "u") + "]",
            kOfR, kVaryingCtR)) ==
        "r.bwd = psend(ct_r): token{V:x}\n"
        "b.bwd = optimization_barrier(r.bwd): token{V:x}\n"
        "t.bwd = precv(b.bwd): f32[2]{V:x}\n"
        "ct_w = t.bwd\n");
}

TEST_CASE("vjp: what is received again is sent again") {
  CHECK(added(with_vjp(
            "[" + kSend + ", " + received("y") + R"(, {"id": "r", "op": "exp", "of": "y"}])",
            kOfR + R"(, "recompute": ["y", "r"])", kVaryingCtR)) ==
        "t.re = psend(w): token{V:x}\n"
        "y.re = precv(t.re): f32[2]{V:x}\n"
        "r.re = exp(y.re): f32[2]{V:x}\n"
        "r.bwd = mul(ct_r, r.re): f32[2]{V:x}\n"
        "y.bwd = psend(r.bwd): token{V:x}\n"
        "t.bwd = precv(y.bwd): f32[2]{V:x}\n"
        "ct_w = t.bwd\n");
}

/// An exchange of "w" over "a" by the tables "i", of one slice for each rank.
std::string ragged(const std::string& more = "") {
  return R"([{"id": "r", "op": "ragged_all_to_all", "of": ["w", "a", "i", "i", "i", "i"], )"
         R"("axis_name": "x")" +
         more + "}]";
}

TEST_CASE("vjp: slices come back to rows of their own, or where they were read if that is apart") {
  CHECK(added(with_vjp(ragged(), kOfR, kVaryingCtR)) ==
        "r.bwd = iota(): s64[2]\n"
        "r.bwd.1 = full(): s64[]\n"
        "r.bwd.2 = mul(r.bwd, r.bwd.1): s64[2]\n"
        "r.bwd.3 = convert_element_type(i): s64[2]\n"
        "r.bwd.4 = add(r.bwd.3, r.bwd.2): s64[2]\n"
        "r.bwd.5 = full(): f32[4]\n"
        "r.bwd.6 = pvary(r.bwd.5): f32[4]{V:x}\n"
        "r.bwd.7 = all_to_all(i): s32[2]{V:x}\n"
        "r.bwd.8 = all_to_all(r.bwd.4): s64[2]{V:x}\n"
        "r.bwd.9 = ragged_all_to_all(ct_r, r.bwd.6, r.bwd.7, i, r.bwd.8, i): f32[4]{V:x}\n"
        "r.bwd.10 = reshape(r.bwd.9): f32[2,2]{V:x}\n"
        "r.bwd.11 = reduce_sum(r.bwd.10): f32[2]{V:x}\n"
        "ct_w = r.bwd.11\n");
  CHECK(added(with_vjp(ragged(R"(, "disjoint_reads": true)"), kOfR, kVaryingCtR)) ==
        "r.bwd = full(): f32[2]\n"
        "r.bwd.1 = pvary(r.bwd): f32[2]{V:x}\n"
        "r.bwd.2 = all_to_all(i): s32[2]{V:x}\n"
        "r.bwd.3 = all_to_all(i): s32[2]{V:x}\n"
        "r.bwd.4 = ragged_all_to_all(ct_r, r.bwd.1, r.bwd.2, i, r.bwd.3, i): f32[2]{V:x}\n"
        "ct_w = r.bwd.4\n");
}

TEST_CASE("vjp: the output of a ragged exchange has no gradient in rows over which slices came") {
  CHECK(added(with_vjp(ragged(), R"("of": ["r"], "with_respect_to": ["a"])", kVaryingCtR)) ==
        "r.bwd = full(): s64[2]\n"
        "r.bwd.1 = iota(): s64[2]\n"
        "r.bwd.2 = ragged_all_to_all(r.bwd, r.bwd.1, i, i, i, i): s64[2]{V:x}\n"
        "r.bwd.3 = full(): f32[1]\n"
        "r.bwd.4 = pvary(r.bwd.3): f32[1]{V:x}\n"
        "r.bwd.5 = concatenate(ct_r, r.bwd.4): f32[3]{V:x}\n"
        "r.bwd.6 = take(r.bwd.5, r.bwd.2): f32[2]{V:x}\n"
        "r.bwd.7 = psum(r.bwd.6): f32[2]\n"
        "ct_a = r.bwd.7\n");
}

TEST_CASE("vjp: assumed sizes go back as those that were received") {
  // Two slices for each rank: rank 0 sends itself 1 and 0 rows and rank 1 1 and 0; rank 1 sends
  // rank 0 none and itself 0 and 1. So rank 0 receives 1, 0 and 0, 0, and rank 1 1, 0 and 0, 1.
  Small small;
  small.mesh = R"({"x": 2})";
  small.arrays = R"({"w": {"shape": [4], "dtype": "f32", "spec": ["x"]}, )"
                 R"("i": {"shape": [4], "dtype": "s32"}, )" +
                 kVaryingCtR + "}";
  small.program =
      R"([{"id": "r", "op": "ragged_all_to_all", "of": ["w", "w", "i", "i", "i", "i"], )"
      R"("axis_name": "x", "assume_sizes": [[1, 0, 1, 0], [0, 0, 0, 1]]}])";
  small.more = R"("transform": {"vjp": {"of": "r", "with_respect_to": "w"}})";
  const Scenario scenario = read_scenario("f", small.text());
  std::vector<std::vector<std::vector<int64_t>>> assumed;
  for (const Op& op : scenario.program.ops)
    if (op.kind == OpKind::RaggedAllToAll)
      assumed.push_back(op.attributes.lists("assume_sizes"));
  const std::vector<std::vector<int64_t>> sent = {{1, 0, 1, 0}, {0, 0, 0, 1}};
  const std::vector<std::vector<int64_t>> received = {{1, 0, 0, 0}, {1, 0, 0, 1}};
  // The exchange, the one that brings its slices back, and the one that marks rows.
  REQUIRE(assumed.size() == 3);
  CHECK(assumed[0] == sent);
  CHECK(assumed[1] == received);
  CHECK(assumed[2] == sent);
}

TEST_CASE("vjp: what is refused") {
  const std::string psum = R"([{"id": "r", "op": "psum", "of": "w", "axis_name": "x"}])";
  CHECK(error_of(with_vjp(R"([{"id": "r", "op": "pmax", "of": "w", "axis_name": "x"}])", kOfR)) ==
        "/program/0: expected an op that has a gradient between the values of \"with_respect_to\" "
        "and \"of\", got \"r\": pmax has no backward rule");
  CHECK(error_of(with_vjp(R"([{"id": "r", "op": "psum_start", "of": "w", "axis_name": "x"}, )"
                          R"({"id": "d", "op": "done", "of": "r"}])",
                          kOfR)) ==
        "/transform/vjp/of/0: expected the result of an op of floats or complex numbers, got "
        "\"r\", future f32[2]");
  CHECK(error_of(with_vjp("[" + kSend + ", " + received("y") + ", " + received("z") +
                              R"(, {"id": "r", "op": "add", "of": ["y", "z"]}])",
                          kOfR, kVaryingCtR)) ==
        "/program/1: expected an op that has a gradient between the values of \"with_respect_to\" "
        "and \"of\", got \"y\": another op takes its token \"t\" too");
  CHECK(error_of(with_vjp(psum, R"("of": ["q"], "with_respect_to": ["w"])")) ==
        "/transform/vjp/of/0: expected the result of an op, got \"q\"");
  CHECK(error_of(with_vjp(psum, R"("of": ["w"], "with_respect_to": ["w"])")) ==
        "/transform/vjp/of/0: expected the result of an op, got \"w\"");
  CHECK(error_of(with_vjp(psum, R"("of": ["r"], "with_respect_to": ["r"])")) ==
        "/transform/vjp/with_respect_to/0: expected the name of an array, got \"r\"");
  CHECK(error_of(with_vjp(psum, R"("of": ["r"], "with_respect_to": ["i"])")) ==
        "/transform/vjp/with_respect_to/0: expected the name of an array of floats or complex "
        "numbers, got "
        "\"i\", s32[2]");
  CHECK(error_of(with_vjp(psum, R"("of": ["r"], "with_respect_to": ["w", "w"])")) ==
        "/transform/vjp/with_respect_to/1: expected each name once, got \"w\"");
  CHECK(error_of(with_vjp(psum, R"("of": [], "with_respect_to": ["w"])")) ==
        "/transform/vjp/of: expected an id or more, got none");
  CHECK(error_of(with_vjp(psum, R"("with_respect_to": ["w"])")) ==
        "/transform/vjp: missing key \"of\"");
  CHECK(error_of(with_vjp(psum, kOfR + R"(, "recompute": ["q"])")) ==
        "/transform/vjp/recompute/0: expected the id of an op or of a loop, got \"q\"");
  CHECK(error_of(with_vjp(psum, kOfR, "")) ==
        "/transform/vjp/of/0: expected an array \"ct_r\", f32[2] on a device, which \"transform\" "
        "needs");
  CHECK(
      error_of(with_vjp(psum, kOfR, R"("ct_r": {"shape": [4], "dtype": "f32", "spec": ["x"]})")) ==
      "/arrays/ct_r: expected f32[2] on each device, as \"transform\" needs it, got "
      "f32[2]{V:x}");
  // Given per device, and of no word on where it varies: over all axes.
  CHECK(error_of(with_vjp(psum, kOfR, R"("ct_r": {"local_shape": [2], "dtype": "f32",
                                      "per_device": [[1, 2], [1, 2]]})")) ==
        "/arrays/ct_r: expected f32[2] on each device, as \"transform\" needs it, got "
        "f32[2]{V:x}; say \"varying\": []");
}

TEST_CASE("vjp: a refused op of the backward pass is at the op that it goes back through") {
  // exp moves 2 * 4e18 bytes, fewer than 2^63, and the mul of its gradient 3 * 4e18.
  const std::string huge = R"("q": {"shape": [4000000000000000000], "dtype": "f8e5m2"}, )"
                           R"("ct_r": {"shape": [4000000000000000000], "dtype": "f8e5m2"})";
  const std::string of_q = R"("of": ["r"], "with_respect_to": ["q"])";
  const std::string refused =
      "the backward pass has an op that is refused: mul \"r.bwd\": expected fewer than 2^63 bytes "
      "and operations, got more for operands (f8e5m2[4000000000000000000], "
      "f8e5m2[4000000000000000000])";
  CHECK(refusal(with_vjp(R"([{"id": "r", "op": "exp", "of": "q"}])", of_q, huge)) ==
        "f:5:13: /program/0: " + refused);
  // Of a loop with the iteration.
  CHECK(refusal(with_vjp(R"([{"id": "r", "op": "fori_loop", "lower": 0, "upper": 2, )"
                         R"("carry": {"h": "q"}, "body": [{"id": "y", "op": "exp", "of": "h"}], )"
                         R"("yield": {"h": "y"}}])",
                         of_q, huge)) ==
        "f:5:98: /program/0/body/0: the backward pass has an op that is refused: mul \"r.y.bwd\": "
        "expected fewer than 2^63 bytes and operations, got more for operands "
        "(f8e5m2[4000000000000000000], f8e5m2[4000000000000000000]) (in r[1])");
}

TEST_CASE("vjp: a second one of the same value, or to the same array, is refused") {
  Small small;
  small.arrays = R"({"a": {"shape": [], "dtype": "f32"}, "b": {"shape": [], "dtype": "f32"}, )"
                 R"("ct_r": {"shape": [], "dtype": "f32"}, "ct_s": {"shape": [], "dtype": "f32"}})";
  small.program = R"([{"id": "r", "op": "mul", "of": ["a", "b"]}, )"
                  R"({"id": "s", "op": "neg", "of": "a"}])";
  const auto with_second = [&](const std::string& second) {
    small.more =
        R"("transform": [{"vjp": {"of": "r", "with_respect_to": "a"}}, {"vjp": )" + second + "}]";
    return error_of(small.text());
  };
  CHECK(with_second(R"({"of": "r", "with_respect_to": "b"})") ==
        "/transform/1/vjp/of: expected \"ct_r\" to be unused, for the cotangent of \"r\", got it "
        "from an op or an earlier transform; one transform may have several values in \"of\" and "
        "in \"with_respect_to\"");
  CHECK(with_second(R"({"of": "s", "with_respect_to": "a"})") ==
        "/transform/1/vjp/with_respect_to: expected \"ct_a\" to be unused, for the cotangent of "
        "\"a\", got it from an op or an earlier transform; one transform may have several values "
        "in \"of\" and in \"with_respect_to\"");
}

TEST_CASE("vjp: recompute names ops whose values can be computed again") {
  const std::string program =
      R"([{"id": ["p", "q"], "op": "split", "of": "w", "sizes": [1, 1]}, )"
      R"({"id": "f", "op": "psum_start", "of": "p", "axis_name": "x"}, )"
      R"({"id": "whole", "op": "done", "of": "f"}, )"
      R"({"id": "c", "op": "compute", "of": "whole", "flops": 1, "bytes": 1, "dtype": "f32"}, )"
      R"({"id": "r", "op": "exp", "of": "whole"}])";
  const auto of = [&](const std::string& id) {
    return error_of(with_vjp(program, kOfR + R"(, "recompute": [")" + id + "\"]",
                             R"("ct_r": {"shape": [1], "dtype": "f32"})"));
  };
  const std::string expected =
      "/transform/vjp/recompute/0: expected the id of an op or of a loop, got ";
  CHECK(of("f") == expected + "\"f\", a start; name its done, whose value is needed");
  CHECK(of("c") == expected + "\"c\", which has no result");
  CHECK(of("q") ==
        expected + "\"q\", a result of \"p\"; name \"p\", which makes all its results again");
  CHECK(of("w") == expected + "\"w\", an array");
  CHECK(of("hole") == expected + "\"hole\"; did you mean \"whole\"?");
  CHECK(of("whole") == "");
  CHECK(of("p") == "");
}

std::string with_then(const std::string& then, const std::string& transform) {
  Small small;
  small.mesh = R"({"x": 2})";
  small.arrays = R"({"w": {"shape": [4], "dtype": "f32", "spec": ["x"]}, )"
                 R"("ct_r": {"shape": [4], "dtype": "f32", "spec": ["x"]}})";
  small.program = R"([{"id": "r", "op": "neg", "of": "w"}])";
  small.more = transform + R"("then": )" + then + R"(, "outputs": ["new"])";
  return small.text();
}

const std::string kVjpOfW = R"("transform": {"vjp": {"of": "r", "with_respect_to": "w"}}, )";

TEST_CASE("vjp: then has the ops after the backward pass, which read cotangents") {
  const Scenario scenario = read_scenario(
      "f", with_then(R"([{"id": "new", "op": "sub", "of": ["w", "ct_w"]}])", kVjpOfW));
  const Program& program = scenario.program;
  const Op& last = program.ops.back();
  CHECK(program.ops.size() == 3);
  CHECK(last.name == "new");
  CHECK(program.value(last.operands[1]).name == "r.bwd");
}

TEST_CASE("vjp: then may have a loop") {
  const Scenario scenario = read_scenario(
      "f",
      with_then(R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 3, )"
                R"("carry": {"h": "w"}, "body": [{"id": "s", "op": "sub", "of": ["h", "ct_w"]}], )"
                R"("yield": {"h": "s"}}, {"id": "new", "op": "neg", "of": "l.h"}])",
                kVjpOfW));
  CHECK(scenario.program.ops.size() == 6);
}

TEST_CASE("vjp: ops of then are refused with the messages of other ops, at their places") {
  const auto first_error_of = [](const std::string& then, const std::string& transform = kVjpOfW) {
    const std::string message = error_of(with_then(then, transform));
    return message.substr(0, message.find('\n'));
  };
  CHECK(first_error_of(R"([{"id": "new", "op": "sub", "of": ["w", "ct_rr"]}])") ==
        "/then/0/of: expected the id of an array or of an earlier op, got \"ct_rr\"; did you mean "
        "\"ct_r\"?");
  CHECK(first_error_of(R"([{"id": "r", "op": "neg", "of": "w"}])") ==
        "/then/0/id: expected an unused id, got \"r\", which /program/0 (line 5) already names");
  CHECK(first_error_of("{}") == "/then: expected a list of ops, got an object");
  CHECK(first_error_of(R"([{"id": "new", "op": "neg", "of": "w"}])", "") ==
        "/then: expected \"transform\" too, after which these ops run");
  CHECK(first_error_of(R"([{"id": "new", "op": "neg", "of": "w"}])", R"("transform": [], )") ==
        "/transform: expected a transform or more, after which the ops of \"then\" run, got none");
}

TEST_CASE("vjp: these ops of numbers have no backward rule") {
  std::string without;
  for (const OpRules& op : all_rules())
    if (op.backward == nullptr)
      without += std::string(op.name) + " ";
  // Integers and pred have no gradient, nor has what compares or counts; done passes its cotangent
  // to the start.
  CHECK(without ==
        "pmax pmin pargmax pargmin done axis_index axis_size eq ne lt le gt ge full iota "
        "create_token ");
}

}  // namespace
}  // namespace orrery
