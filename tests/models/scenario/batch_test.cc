// Tests the program that "transform": {"batch": ...} makes. tests/verifier/batch_test.cc tests that
// its values are those of each element of the batch alone.

#include <string>

#include <doctest/doctest.h>

#include "models/program/rules.h"
#include "models/scenario/reader.h"
#include "tests/models/scenario/batch_programs.h"

namespace orrery {
namespace {

using test::batched;
using test::refusal;
using test::transfer;
using test::with_batch;

TEST_CASE("batch: ops of what is not batched stay as they are") {
  CHECK(batched(with_batch(
            R"([{"id": "d", "op": "neg", "of": "c"}, {"id": "r", "op": "neg", "of": "b"}])",
            R"("size": 3, "in_axes": {"b": 0, "c": null})")) ==
        "d = neg(c): s32[2]\n"
        "r = neg(b): s32[3,2]\n");
}

TEST_CASE("batch: what is not batched is repeated beside what is; a scalar stands for any array") {
  CHECK(batched(with_batch(
            R"([{"id": "k", "op": "full", "shape": [], "fill_value": 2, "dtype": "s32"}, )"
            R"({"id": "r", "op": "add", "of": ["a", "c"]}, )"
            R"({"id": "s", "op": "mul", "of": ["a", "k"]}])",
            R"("in_axes": {"a": 1})")) ==
        "k = full(): s32[]\n"
        "r.batch = broadcast_in_dim(c): s32[2,3]\n"
        "r = add(a, r.batch): s32[2,3]{V:x}\n"
        "s = mul(a, k): s32[2,3]{V:x}\n");
}

TEST_CASE("batch: an output has the batch first, unless out_axes says otherwise") {
  const std::string program =
      R"([{"id": "r", "op": "neg", "of": "a"}, {"id": "s", "op": "neg", "of": "r"}, )"
      R"({"id": "t", "op": "neg", "of": "c"}])";
  CHECK(batched(with_batch(program, R"("in_axes": {"a": 1})", R"(["r", "t"])")) ==
        "r.batch = neg(a): s32[2,3]{V:x}\n"
        "r = transpose(r.batch): s32[3,2]{V:x}\n"
        "s = neg(r): s32[3,2]{V:x}\n"
        "t = neg(c): s32[2]\n");
  CHECK(batched(with_batch(program, R"("in_axes": {"a": 1}, "out_axes": {"r": 1, "t": 1})",
                           R"(["r", "t"])")) ==
        "r = neg(a): s32[2,3]{V:x}\n"
        "s = neg(r): s32[2,3]{V:x}\n"
        "t.batch = neg(c): s32[2]\n"
        "t = broadcast_in_dim(t.batch): s32[2,3]\n");
}

// The batch moves to d - 1, where the SEMANTICS of JAX's vmap have d + 1.
TEST_CASE("batch: an untiled psum_scatter before the batch moves it by one") {
  CHECK(batched(with_batch(R"([{"id": "r", "op": "psum_scatter", "of": "a", "axis_name": "x"}])",
                           R"("in_axes": {"a": 1}, "out_axes": {"r": 0})")) ==
        "r = psum_scatter(a): s32[3]{V:x}\n");
}

TEST_CASE("batch: in the place of a mesh axis, a collective over it is local") {
  const std::string over_i = R"("axis_name": "i", "in_axes": {"a": 1})";
  const auto of = [&](const std::string& op) {
    return batched(with_batch(R"([{"id": "r", )" + op + "}]", over_i));
  };
  CHECK(of(R"("op": "psum", "of": "a", "axis_name": "i")") == "r = reduce_sum(a): s32[2]{V:x}\n");
  CHECK(of(R"("op": "psum", "of": "c", "axis_name": "i")") ==
        "r.batch = full(): s32[]\n"
        "r = mul(c, r.batch): s32[2]\n");
  CHECK(of(R"("op": "psum", "of": "a", "axis_name": ["x", "i"])") ==
        "r.batch = reduce_sum(a): s32[2]{V:x}\n"
        "r = psum(r.batch): s32[2]\n");
  CHECK(of(R"("op": "pmax", "of": "c", "axis_name": "i")") == "r = reshape(c): s32[2]\n");
  CHECK(of(R"("op": "ppermute", "of": "a", "axis_name": "i", "perm": [[0, 1], [1, 2]])") ==
        "r.batch = transpose(a): s32[3,2]{V:x}\n"
        "r.batch.1 = full(): s32[1,2]\n"
        "r.batch.2 = slice(r.batch): s32[2,2]{V:x}\n"
        "r = concatenate(r.batch.1, r.batch.2): s32[3,2]{V:x}\n");
  CHECK(of(R"("op": "axis_index", "axis_name": "i")") == "r = iota(): s32[3]\n");
  CHECK(of(R"("op": "axis_size", "axis_name": ["x", "i"])") == "r = full(): s32[]\n");
  CHECK(of(R"("op": "pvary", "of": "c", "axis_name": "i")") == "r = reshape(c): s32[2]\n");
}

TEST_CASE("batch: a sequence is reordered along the same dimension, whichever the batch's is") {
  const auto seq_dim = [](const std::string& shape, const std::string& batch) {
    const Scenario scenario = read_scenario(
        "f", with_batch(R"([{"id": "r", "op": "reorder_sequence", "of": "s", "cp_size": 2}])",
                        R"("in_axes": {"s": )" + batch + "}", "[]",
                        R"(, "s": {"shape": )" + shape + R"(, "dtype": "s32"})"));
    return scenario.program.ops.at(0).attributes.integer("seq_dim");
  };
  // Each element of the batch is [2, 8], which is reordered along dimension 1.
  CHECK(seq_dim("[3, 2, 8]", "0") == 2);
  CHECK(seq_dim("[2, 3, 8]", "1") == 2);
  CHECK(seq_dim("[2, 8, 3]", "2") == 1);
}

TEST_CASE("batch: a started collective starts, and what arranges its result follows its done") {
  const std::string program =
      R"([{"id": "f", "op": "all_gather_start", "of": "a", "axis_name": AXES}, )"
      R"({"id": "w", "op": "neg", "of": "c"}, {"id": "r", "op": "done", "of": "f"}])";
  const auto over = [&](const std::string& axes) {
    std::string text = program;
    text.replace(text.find("AXES"), 4, axes);
    return batched(with_batch(text, R"("axis_name": "i", "in_axes": {"a": 1})"));
  };
  CHECK(over(R"("x")") ==
        "f = all_gather_start(a): future s32[2,2,3]{V:x}\n"
        "w = neg(c): s32[2]\n"
        "r = done(f): s32[2,2,3]{V:x}\n");
  CHECK(over(R"("i")") ==
        "f = transpose(a): s32[3,2]{V:x}\n"
        "w = neg(c): s32[2]\n"
        "r = reshape(f): s32[3,2]{V:x}\n");
  CHECK(over(R"(["i", "x"])") ==
        "f.batch = transpose(a): s32[3,2]{V:x}\n"
        "f = all_gather_start(f.batch): future s32[2,3,2]{V:x}\n"
        "w = neg(c): s32[2]\n"
        "r.batch = done(f): s32[2,3,2]{V:x}\n"
        "r.batch.1 = reshape(r.batch): s32[1,2,3,2]{V:x}\n"
        "r.batch.2 = transpose(r.batch.1): s32[1,3,2,2]{V:x}\n"
        "r = reshape(r.batch.2): s32[6,2]{V:x}\n");
}

TEST_CASE("batch: what is sent has the batch, and so has what is received of its token") {
  CHECK(batched(with_batch(transfer(R"("x")", "[[0, 1]]"), R"("in_axes": {"a": 1})")) ==
        "t = psend(a): token{V:x}\n"
        "r = precv(t): s32[2,3]{V:x}\n");
}

TEST_CASE("batch: over the batched axis what is sent is here, and over others it is sent there") {
  const std::string over_i = R"("axis_name": "i", "in_axes": {"a": 1})";
  CHECK(batched(with_batch(transfer(R"("i")", "[[0, 1], [1, 2]]"), over_i)) ==
        "t.batch = transpose(a): s32[3,2]{V:x}\n"
        "t.batch.1 = full(): s32[1,2]\n"
        "t.batch.2 = slice(t.batch): s32[2,2]{V:x}\n"
        "t = concatenate(t.batch.1, t.batch.2): s32[3,2]{V:x}\n"
        "r = reshape(t): s32[3,2]{V:x}\n");
  // The transfer goes from index 0 of x to index 1, and there one entry on.
  CHECK(batched(with_batch(transfer(R"(["x", "i"])", "[[0, 4], [1, 5]]"), over_i)) ==
        "t.batch = transpose(a): s32[3,2]{V:x}\n"
        "t.batch.1 = full(): s32[1,2]\n"
        "t.batch.2 = slice(t.batch): s32[2,2]{V:x}\n"
        "t.batch.3 = concatenate(t.batch.1, t.batch.2): s32[3,2]{V:x}\n"
        "t = psend(t.batch.3): token{V:x}\n"
        "r = precv(t): s32[3,2]{V:x}\n");
  // The transfer is started, with a barrier.
  CHECK(batched(with_batch(
            R"([{"id": "f", "op": "psend_start", "of": "a", "axis_name": "i", )"
            R"("perm": [[2, 0]]}, {"id": "t", "op": "done", "of": "f"}, )"
            R"({"id": ["s", "u"], "op": "optimization_barrier", "of": ["c", "t"]}, )"
            R"({"id": "g", "op": "precv_start", "of": "u", "shape": [2], "dtype": "s32", )"
            R"("axis_name": "i", "perm": [[2, 0]]}, {"id": "r", "op": "done", "of": "g"}])",
            over_i)) ==
        "f.batch = transpose(a): s32[3,2]{V:x}\n"
        "f.batch.1 = slice(f.batch): s32[1,2]{V:x}\n"
        "f.batch.2 = full(): s32[2,2]\n"
        "f = concatenate(f.batch.1, f.batch.2): s32[3,2]{V:x}\n"
        "t = optimization_barrier(f): s32[3,2]{V:x}\n"
        "s = optimization_barrier(c, t): s32[2]{V:x}, s32[3,2]{V:x}\n"
        "g = reshape(u): s32[3,2]{V:x}\n"
        "r = reshape(g): s32[3,2]{V:x}\n");
}

TEST_CASE("batch: an untiled all_to_all over no axes moves its dimension beside the batch") {
  // Each element of the batch is [1, 2] in q, and [2, 1] in the result.
  const std::string program = R"([{"id": "r", "op": "all_to_all", "of": "q", "axis_name": [], )"
                              R"("split_axis": 0, "concat_axis": 1}])";
  CHECK(batched(with_batch(program, R"("in_axes": {"q": 1})", "[]",
                           R"(, "q": {"shape": [1, 3, 2], "dtype": "s32"})")) ==
        "r = all_to_all(q): s32[3,2,1]\n");
  CHECK(batched(with_batch(program, R"("in_axes": {"q": 0})", "[]",
                           R"(, "q": {"shape": [3, 1, 2], "dtype": "s32"})")) ==
        "r = all_to_all(q): s32[3,2,1]\n");
}

TEST_CASE("batch: a ragged exchange of one set of slices moves rows with the batch in them") {
  const std::string program =
      R"([{"id": "r", "op": "ragged_all_to_all", "of": ["c", "q", "k", "k", "k", "k"], )"
      R"("axis_name": "x", "assume_sizes": [[1, 0], [1, 1]]}])";
  const std::string arrays = R"(, "k": {"shape": [2], "dtype": "s32"}, )"
                             R"("q": {"shape": [2, 3], "dtype": "s32"})";
  CHECK(batched(with_batch(program, R"("in_axes": {"q": 1})", "[]", arrays)) ==
        "r.batch = broadcast_in_dim(c): s32[2,3]\n"
        "r = ragged_all_to_all(r.batch, q, k, k, k, k): s32[2,3]{V:x}\n");
  CHECK(batched(with_batch(program, R"("in_axes": {"q": 0})", "[]", arrays)) ==
        "r.batch = broadcast_in_dim(c): s32[2,2]\n"
        "r.batch.1 = transpose(q): s32[3,2]\n"
        "r = ragged_all_to_all(r.batch, r.batch.1, k, k, k, k): s32[3,2]{V:x}\n");
}

TEST_CASE("batch: slices that differ within the batch are those of one exchange") {
  const std::string program =
      R"([{"id": "r", "op": "ragged_all_to_all", "of": ["c", "c", "k", "c", "c", "c"], )"
      R"("axis_name": "x", "assume_sizes": [[1, 0], [1, 1]]}])";
  const std::string arrays = R"(, "k": {"shape": [3, 2], "dtype": "s32"})";
  const std::string text = with_batch(program, R"("in_axes": {"k": 0})", "[]", arrays);
  CHECK(batched(text) ==
        "r.batch = broadcast_in_dim(c): s32[3,2]\n"
        "r.batch.1 = reshape(r.batch): s32[6]\n"
        "r.batch.2 = broadcast_in_dim(c): s32[3,2]\n"
        "r.batch.3 = reshape(r.batch.2): s32[6]\n"
        "r.batch.4 = transpose(k): s32[2,3]\n"
        "r.batch.5 = convert_element_type(r.batch.4): s64[2,3]\n"
        "r.batch.6 = iota(): s64[2,3]\n"
        "r.batch.7 = full(): s64[]\n"
        "r.batch.8 = mul(r.batch.6, r.batch.7): s64[2,3]\n"
        "r.batch.9 = add(r.batch.5, r.batch.8): s64[2,3]\n"
        "r.batch.10 = reshape(r.batch.9): s64[6]\n"
        "r.batch.11 = broadcast_in_dim(c): s32[2,3]\n"
        "r.batch.12 = reshape(r.batch.11): s32[6]\n"
        "r.batch.13 = broadcast_in_dim(c): s32[2,3]\n"
        "r.batch.14 = convert_element_type(r.batch.13): s64[2,3]\n"
        "r.batch.15 = iota(): s64[2,3]\n"
        "r.batch.16 = full(): s64[]\n"
        "r.batch.17 = mul(r.batch.15, r.batch.16): s64[2,3]\n"
        "r.batch.18 = add(r.batch.14, r.batch.17): s64[2,3]\n"
        "r.batch.19 = reshape(r.batch.18): s64[6]\n"
        "r.batch.20 = broadcast_in_dim(c): s32[2,3]\n"
        "r.batch.21 = reshape(r.batch.20): s32[6]\n"
        "r.batch.22 = ragged_all_to_all(r.batch.1, r.batch.3, r.batch.10, r.batch.12, r.batch.19, "
        "r.batch.21): s32[6]{V:x}\n"
        "r = reshape(r.batch.22): s32[3,2]{V:x}\n");
  const std::vector<std::vector<int64_t>> sizes = {{1, 1, 1, 0, 0, 0}, {1, 1, 1, 1, 1, 1}};
  for (const Op& op : read_scenario("f", text).program.ops)
    if (op.kind == OpKind::RaggedAllToAll)
      CHECK(op.attributes.lists("assume_sizes") == sizes);
}

TEST_CASE("batch: where starts differ within the batch, each element has an op of its own") {
  CHECK(batched(with_batch(
            R"([{"id": "k", "op": "reduce_max", "of": "a", "axes": [0]}, )"
            R"({"id": "r", "op": "dynamic_slice", "of": ["c", "k"], "slice_sizes": [1]}])",
            R"("in_axes": {"a": 1})")) ==
        "k = reduce_max(a): s32[3]{V:x}\n"
        "r.batch = slice(k): s32[1]{V:x}\n"
        "r.batch.1 = reshape(r.batch): s32[]{V:x}\n"
        "r.batch.2 = dynamic_slice(c, r.batch.1): s32[1]{V:x}\n"
        "r.batch.3 = reshape(r.batch.2): s32[1,1]{V:x}\n"
        "r.batch.4 = slice(k): s32[1]{V:x}\n"
        "r.batch.5 = reshape(r.batch.4): s32[]{V:x}\n"
        "r.batch.6 = dynamic_slice(c, r.batch.5): s32[1]{V:x}\n"
        "r.batch.7 = reshape(r.batch.6): s32[1,1]{V:x}\n"
        "r.batch.8 = slice(k): s32[1]{V:x}\n"
        "r.batch.9 = reshape(r.batch.8): s32[]{V:x}\n"
        "r.batch.10 = dynamic_slice(c, r.batch.9): s32[1]{V:x}\n"
        "r.batch.11 = reshape(r.batch.10): s32[1,1]{V:x}\n"
        "r = concatenate(r.batch.3, r.batch.7, r.batch.11): s32[3,1]{V:x}\n");
}

TEST_CASE("batch: a computation costs as much as those of all elements") {
  const Scenario scenario = read_scenario(
      "f",
      with_batch(R"([{"id": "r", "op": "compute", "of": "a", "flops": "2 FLOP", "bytes": "3 B", )"
                 R"("dtype": "s32", "shape": [4], "scratch": "5 B"}])",
                 R"("in_axes": {"a": 1})"));
  const Op& op = scenario.program.ops.at(0);
  CHECK(op.attributes.flops("flops") == Flops(6));
  CHECK(op.attributes.bytes("bytes") == Bytes(9));
  CHECK(op.attributes.bytes("scratch") == Bytes(15));
  CHECK(scenario.program.value(op.results[0]).type.shape == Shape{3, 4});
}

TEST_CASE("batch: an addend's constants are reduced, and its zeros are addends") {
  const std::string arrays = R"(, "u": {"shape": [2], "dtype": "s32", "unreduced": ["x"]}, )"
                             R"("v": {"shape": [2, 3], "dtype": "s32", "unreduced": ["x"]})";
  const std::string over_i = R"("axis_name": "i", "in_axes": {"v": 1})";
  CHECK(batched(with_batch(R"([{"id": "r", "op": "psum", "of": "u", "axis_name": "i"}])", over_i,
                           "[]", arrays)) ==
        "r.batch = full(): s32[]\n"
        "r.batch.1 = preduced(r.batch): s32[]{R:x}\n"
        "r = mul(u, r.batch.1): s32[2]{U:x}\n");
  CHECK(batched(with_batch(R"([{"id": "r", "op": "ppermute", "of": "v", "axis_name": "i", )"
                           R"("perm": [[0, 1], [1, 2]]}])",
                           over_i, "[]", arrays)) ==
        "r.batch = transpose(v): s32[3,2]{U:x}\n"
        "r.batch.1 = full(): s32[1,2]\n"
        "r.batch.2 = pvary(r.batch.1): s32[1,2]{V:x}\n"
        "r.batch.3 = vary_unreduced_cast(r.batch.2): s32[1,2]{U:x}\n"
        "r.batch.4 = slice(r.batch): s32[2,2]{U:x}\n"
        "r = concatenate(r.batch.3, r.batch.4): s32[3,2]{U:x}\n");
}

TEST_CASE("batch: transforms compose, in the order of the list") {
  const std::string dot = R"([{"id": "r", "op": "dot_general", "of": ["p", "q"], )"
                          R"("dimension_numbers": [[[0], [0]], [[], []]]}])";
  const std::string arrays = R"(, "p": {"shape": [3, 2], "dtype": "f32"}, )"
                             R"("q": {"shape": [2], "dtype": "f32"}, )"
                             R"("ct_r": {"shape": [3], "dtype": "f32"})";
  const std::string vjp = R"({"vjp": {"of": ["r"], "with_respect_to": ["q"]}})";
  // This is the gradient of the sum over the batch.
  CHECK(batched(with_batch(dot, R"([{"batch": {"size": 3, "in_axes": {"p": 0}}}, )" + vjp + "]",
                           R"(["r", "ct_q"])", arrays)) ==
        "r = dot_general(p, q): f32[3]\n"
        "r.bwd = dot_general(ct_r, p): f32[2]\n"
        "ct_q = r.bwd\n");
  // There is one gradient for each element of the batch.
  CHECK(batched(with_batch(dot, "[" + vjp + R"(, {"batch": {"in_axes": {"p": 0, "ct_r": 0}}}])",
                           R"(["r", "ct_q"])", arrays)) ==
        "r = dot_general(p, q): f32[3]\n"
        "r.bwd = dot_general(ct_r, p): f32[3,2]\n"
        "ct_q = r.bwd\n");
}

TEST_CASE("batch: two names, the first in the list inside") {
  CHECK(batched(with_batch(R"([{"id": "r", "op": "psum", "of": "a", "axis_name": ["i", "j"]}, )"
                           R"({"id": "s", "op": "axis_index", "axis_name": ["i", "j"]}])",
                           R"([{"batch": {"axis_name": "i", "in_axes": {"a": 0}}}, )"
                           R"({"batch": {"axis_name": "j", "in_axes": {"a": 1}}}])")) ==
        "r.batch = reduce_sum(a): s32[3]{V:x}\n"
        "r = reduce_sum(r.batch): s32[]{V:x}\n"
        "s.batch = iota(): s32[2]\n"
        "s.batch.1 = full(): s32[]\n"
        "s.batch.2 = mul(s.batch, s.batch.1): s32[2]\n"
        "s.batch.3 = iota(): s32[3]\n"
        "s.batch.4 = broadcast_in_dim(s.batch.2): s32[3,2]\n"
        "s.batch.5 = broadcast_in_dim(s.batch.3): s32[3,2]\n"
        "s = add(s.batch.4, s.batch.5): s32[3,2]\n");
}

TEST_CASE("batch: what iterations carry with the batch has it in all of them") {
  const std::string loop =
      R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 1000, "index": "k", )"
      R"("carry": {"h": "c"}, "yield": {"h": "v"}, )"
      R"("body": [{"id": "u", "op": "add", "of": ["h", "k"]}, )"
      R"({"id": "v", "op": "add", "of": ["u", "a"]}]}])";
  const std::string batch = R"("in_axes": {"a": 1}, "out_axes": {"l": 1})";
  const Scenario scenario = read_scenario("f", [&] {
    std::string text = with_batch(loop, batch, R"(["l"])");
    const size_t types = text.find("\"check_types\": true");
    return text.replace(types + 15, 4, "false");
  }());
  const Program& program = scenario.program;
  REQUIRE(program.loops.size() == 1);
  CHECK(program.loops[0].upper == 1000);
  // In every iteration the carry has the batch along dimension 0.
  const auto shape = [&](ValueId value) { return program.value(value).type.shape; };
  for (ValueId Carry::*part : {&Carry::initial, &Carry::param, &Carry::yielded, &Carry::result})
    CHECK(shape(program.loops[0].carries[0].*part) == Shape{3, 2});
  CHECK(shape(program.other_names.at("l")) == Shape{2, 3});
}

/// Returns a loop of 3 iterations over the arrays of with_batch().
std::string batched_loop(const std::string& carry, const std::string& body,
                         const std::string& yield, const std::string& batch) {
  const std::string text =
      with_batch(R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 3, "carry": {)" + carry +
                     R"(}, "yield": {)" + yield + R"(}, "body": [)" + body + "]}]",
                 batch);
  const size_t types = text.find("\"check_types\": true");
  return std::string(text).replace(types + 15, 4, "false");
}

TEST_CASE("batch: what a loop carries is arranged before it, and at the end of its body") {
  const std::string in_axes = R"("in_axes": {"a": 1})";
  CHECK(batched(batched_loop(R"("p": "c", "q": "a")", "", R"("p": "q", "q": "p")", in_axes)) ==
        "l.p.batch = broadcast_in_dim(c): s32[3,2]\n"
        "l.q.batch = transpose(a): s32[3,2]{V:x}\n");
  CHECK(batched(batched_loop(R"("h": "a", "k": "c")", R"({"id": "y", "op": "neg", "of": "k"})",
                             R"("h": "y", "k": "y")", in_axes)) ==
        "l.h.batch = transpose(a): s32[3,2]{V:x}\n"
        "l[].y = neg(l[].k): s32[2]\n"
        "l[].h.batch = broadcast_in_dim(l[].y): s32[3,2]\n");
  CHECK(batched(batched_loop(R"("h": "a")", R"({"id": "y", "op": "neg", "of": "a"})", R"("h": "y")",
                             in_axes)) ==
        "l.h.batch = transpose(a): s32[3,2]{V:x}\n"
        "l[].y.batch = neg(a): s32[2,3]{V:x}\n"
        "l[].y = transpose(l[].y.batch): s32[3,2]{V:x}\n"
        "l = l.h\n");
  // out_axes places the batch after the loop, and so in all iterations.
  CHECK(batched(batched_loop(R"("h": "a")", R"({"id": "y", "op": "neg", "of": "h"})", R"("h": "y")",
                             in_axes + R"(, "out_axes": {"l.h": 1})")) ==
        "l[].y = neg(l[].h): s32[2,3]{V:x}\n"
        "l = l.h\n");
}

TEST_CASE("batch: of an output that a loop carries without the batch there is one") {
  const auto looped = [](const std::string& batch) {
    std::string text = with_batch(
        R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 3, "carry": {"h": "c"}, )"
        R"("yield": {"h": "y"}, "body": [{"id": "y", "op": "neg", "of": "h"}]}])",
        batch, R"(["l.h"])");
    return text.replace(text.find("\"check_types\": true") + 15, 4, "false");
  };
  CHECK(batched(looped(R"("in_axes": {"a": 1})")) ==
        "l[].y = neg(l[].h): s32[2]\n"
        "l = l.h\n");
  CHECK(batched(looped(R"("in_axes": {"a": 1}, "out_axes": {"l.h": 0})")) ==
        "l.h.batch = broadcast_in_dim(c): s32[3,2]\n"
        "l[].y = neg(l[].h): s32[3,2]\n"
        "l = l.h\n");
}

TEST_CASE("batch: where all have the same, the first has the extremum, unless it is a NaN") {
  CHECK(batched(with_batch(R"([{"id": "r", "op": "pargmax", "of": "c", "axis_name": "i"}])",
                           R"("axis_name": "i", "in_axes": {"a": 1})")) ==
        "r.batch = eq(c, c): pred[2]\n"
        "r.batch.1 = full(): s32[]\n"
        "r.batch.2 = full(): s32[]\n"
        "r = select_n(r.batch, r.batch.1, r.batch.2): s32[2]\n");
}

TEST_CASE("batch: a value of a single iteration has the batch where its op has it") {
  const std::string body = R"({"id": "y", "op": "neg", "of": "a"})";
  CHECK(refusal(batched_loop("", body, "", R"("in_axes": {"a": 1}, "out_axes": {"l[1].y": 1})")) ==
        "");
  CHECK(refusal(batched_loop("", body, "", R"("in_axes": {"a": 1}, "out_axes": {"l[1].y": 0})"))
            .ends_with("expected 1, as \"l[1].y\", which is made in a loop, has it, got 0"));
}

TEST_CASE("batch: a loop may carry on what it starts, if nothing arranges it after its done") {
  const auto with_axes = [](const std::string& axes) {
    std::string text =
        with_batch(R"([{"id": "f", "op": "all_gather_start", "of": "a", "axis_name": AXES}, )"
                   R"({"id": "l", "op": "fori_loop", "lower": 0, "upper": 3, )"
                   R"("carry": {"h": "f"}, "yield": {"h": "g"}, )"
                   R"("body": [{"id": "d", "op": "done", "of": "h"}, )"
                   R"({"id": "g", "op": "all_gather_start", "of": "a", "axis_name": AXES}]}, )"
                   R"({"id": "r", "op": "done", "of": "l"}])",
                   R"("axis_name": "i", "in_axes": {"a": 1})");
    for (size_t at = text.find("AXES"); at != text.npos; at = text.find("AXES"))
      text.replace(at, 4, axes);
    return text;
  };
  CHECK(batched(with_axes(R"("x")")) ==
        "f = all_gather_start(a): future s32[2,2,3]{V:x}\n"
        "l[].d = done(l[].h): s32[2,2,3]{V:x}\n"
        "l[].g = all_gather_start(a): future s32[2,2,3]{V:x}\n"
        "r = done(l.h): s32[2,2,3]{V:x}\n"
        "l = l.h\n");
  CHECK(refusal(with_axes(R"(["i", "x"])"))
            .ends_with("/program/1: expected a loop that can be batched, got \"l\": what it starts "
                       "and carries on as \"l.h\" has the batch elsewhere than before the loop, or "
                       "is arranged after it is done"));
}

TEST_CASE("batch: a carry that varies over the batched axis is varied before the loop") {
  // The carry begins with zeros, and the loop adds a, which varies over i.
  const auto carry = [](const std::string& initial) {
    return with_batch(R"([{"id": "z", "op": "pvary", "of": "c", "axis_name": "x"}, )"
                      R"({"id": "zi", "op": "pvary", "of": "z", "axis_name": "i"}, )"
                      R"({"id": "l", "op": "fori_loop", "lower": 0, "upper": 2, "carry": {"h": ")" +
                          initial +
                          R"("}, "yield": {"h": "v"}, )"
                          R"("body": [{"id": "v", "op": "add", "of": ["h", "a"]}]}])",
                      R"("axis_name": "i", "in_axes": {"a": 1})", R"(["l"])");
  };
  const std::string refused = refusal(carry("z"));
  CHECK(refused.ends_with(
      "fori_loop \"l\": expected \"h\" not to vary over i, as before the loop, got "
      "\"v\", s32[2]{V:(x,i)}, which does; pvary its initial value over i (\"check_types\": "
      "false allows it) (in l)"));
  CHECK(refusal(carry("zi")) == "");
}

}  // namespace
}  // namespace orrery
