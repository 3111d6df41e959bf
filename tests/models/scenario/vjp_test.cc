// Tests the ops that "transform": {"vjp": ...} adds. tests/oracle compares the values of backward
// passes with JAX's.

#include <string>

#include <doctest/doctest.h>

#include "models/program/rules.h"
#include "models/scenario/reader.h"
#include "tests/models/scenario/vjp_programs.h"

namespace orrery {
namespace {

using test::added;
using test::kOfR;
using test::Small;
using test::with_vjp;

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

TEST_CASE("vjp: of the slices of an array one makes an array of its size, others add to slices") {
  CHECK(added(with_vjp(R"([
    {"id": "s", "op": "slice", "of": "q", "start_indices": [0], "limit_indices": [2]},
    {"id": "t", "op": "slice", "of": "q", "start_indices": [1], "limit_indices": [3]},
    {"id": "u", "op": "slice", "of": "q", "start_indices": [0], "limit_indices": [3], "strides": [2]},
    {"id": "v", "op": "add", "of": ["s", "t"]}, {"id": "r", "op": "add", "of": ["v", "u"]}])",
                       R"("of": ["r"], "with_respect_to": ["q"])",
                       R"("q": {"shape": [4], "dtype": "f32"},
                          "ct_r": {"shape": [2], "dtype": "f32"})")) ==
        "u.bwd = full(): f32[]\n"
        "u.bwd.1 = pad(ct_r, u.bwd): f32[4]\n"
        "t.bwd = slice(u.bwd.1): f32[2]\n"
        "t.bwd.1 = add(t.bwd, ct_r): f32[2]\n"
        "t.bwd.2 = full(): s32[]\n"
        "t.bwd.3 = dynamic_update_slice(u.bwd.1, t.bwd.1, t.bwd.2): f32[4]\n"
        "s.bwd = slice(t.bwd.3): f32[2]\n"
        "s.bwd.1 = add(s.bwd, ct_r): f32[2]\n"
        "s.bwd.2 = full(): s32[]\n"
        "s.bwd.3 = dynamic_update_slice(t.bwd.3, s.bwd.1, s.bwd.2): f32[4]\n"
        "ct_q = s.bwd.3\n");
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
  // The constant factor becomes reduced, as the result "r" that divides it is.
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
  // "q" is reduced; the values beside it, or the index that reads it, vary.
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
  // The operand is empty, and the scalar around it varies.
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
  CHECK(added(with_vjp(program, kOfR + R"(, "recompute": [])")) == added(with_vjp(program, kOfR)));
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

TEST_CASE("vjp: a reordered sequence goes back in the other direction") {
  const auto backward = [](const std::string& given) {
    const Scenario scenario = read_scenario(
        "f",
        with_vjp(R"([{"id": "r", "op": "reorder_sequence", "of": "s", "cp_size": 2)" + given + "}]",
                 R"("of": ["r"], "with_respect_to": ["s"])",
                 R"("s": {"shape": [8, 8], "dtype": "f32"}, )"
                 R"("ct_r": {"shape": [8, 8], "dtype": "f32"})"));
    CHECK(scenario.program.ops.at(1).kind == OpKind::ReorderSequence);
    return scenario.program.ops.at(1).attributes;
  };
  Attributes inverse;
  inverse.set("cp_size", int64_t{2});
  inverse.set("seq_dim", int64_t{1});
  inverse.set("to_contiguous", true);
  CHECK(backward("") == inverse);
  inverse.set("seq_dim", int64_t{0});
  inverse.set("to_contiguous", false);
  CHECK(backward(R"(, "seq_dim": 0, "to_contiguous": true)") == inverse);
}

TEST_CASE("vjp: a started collective goes back as a sync one") {
  CHECK(added(with_vjp(R"([{"id": "f", "op": "psum_start", "of": "w", "axis_name": "x"}, )"
                       R"({"id": "r", "op": "done", "of": "f"}])",
                       kOfR)) ==
        "f.bwd = pvary(ct_r): f32[2]{V:x}\n"
        "ct_w = f.bwd\n");
}

}  // namespace
}  // namespace orrery
