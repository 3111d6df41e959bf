// Tests the gradients of transfers and of ragged exchanges.

#include <string>

#include <doctest/doctest.h>

#include "models/program/rules.h"
#include "models/scenario/reader.h"
#include "tests/models/scenario/vjp_programs.h"

namespace orrery {
namespace {

using test::added;
using test::kOfR;
using test::kSend;
using test::kVaryingCtR;
using test::ragged;
using test::received;
using test::Small;
using test::with_vjp;

TEST_CASE("vjp: a transfer goes back as one, the other way round") {
  CHECK(added(with_vjp("[" + kSend + ", " + received("r") + "]", kOfR, kVaryingCtR)) ==
        "r.bwd = psend(ct_r): token{V:x}\n"
        "t.bwd = precv(r.bwd): f32[2]{V:x}\n"
        "ct_w = t.bwd\n");
  // A barrier orders the backward pass too. A token that no op takes has no cotangent.
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
  // There are two slices for each rank. Rank 0 sends 1 and 0 rows to rank 0 and 1 and 0 to rank 1;
  // rank 1 sends none to rank 0, and 0 and 1 to itself. So rank 0 receives 1, 0 and 0, 0, and rank
  // 1 receives 1, 0 and 0, 1.
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
  // These are the exchange, the one that brings its slices back, and the one that marks rows.
  REQUIRE(assumed.size() == 3);
  CHECK(assumed[0] == sent);
  CHECK(assumed[1] == received);
  CHECK(assumed[2] == sent);
}

}  // namespace
}  // namespace orrery
