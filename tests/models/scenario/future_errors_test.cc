// Tests the errors of futures and tokens in a program: who reads them, and where they go. A future
// that is never done, is done twice, or is done while its operand is overwritten, is no error of
// the input. Checks in the report fail then: see tests/verifier/faults_test.cc.

#include <string>

#include <doctest/doctest.h>

#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

using test::error_of;
using test::refusal;
using test::Small;

/// Returns the error of these ops, after its place in the file; "" if they are accepted. The ops
/// follow "f", a psum_start of "a", and "k", a token.
std::string said_after(const std::string& ops, const std::string& more = R"("name": "futures")") {
  Small small;
  small.program = R"([{"id": "f", "op": "psum_start", "of": "a", "axis_name": "x"},
{"id": "k", "op": "create_token"})" +
                  (ops.empty() ? "" : ",\n" + ops) + "]";
  small.more = more;
  return error_of(small.text());
}

TEST_CASE("future errors: done is of a future") {
  CHECK(said_after(R"({"id": "d", "op": "done", "of": "a"})") ==
        "/program/2/of: done \"d\": expected a future, the result of a start, got f32[2]{V:x}");
  CHECK(said_after(R"({"id": "d", "op": "done", "of": "k"})") ==
        "/program/2/of: done \"d\": expected a future, the result of a start, got token{V:x}");
  // "s" is the result of a sync op over no axes, where even JAX's start gives a plain value.
  CHECK(said_after(R"({"id": "s", "op": "psum", "of": "a", "axis_name": []},
{"id": "d", "op": "done", "of": "s"})") ==
        "/program/3/of: done \"d\": expected a future, the result of a start, got f32[2]{V:x}");
  CHECK(said_after(R"({"id": "d", "op": "done", "of": ["f", "f"]})") ==
        "/program/2/of: done \"d\": expected 1 operand, got 2");
}

TEST_CASE(
    "future errors: a start over no axes, or of an untiled psum_scatter, is one like others") {
  CHECK(said_after(R"({"id": "s", "op": "psum_start", "of": "a", "axis_name": []},
{"id": "d", "op": "done", "of": "s"})") == "");
  CHECK(said_after(R"({"id": "g", "op": "all_gather_start", "of": "a", "axis_name": "x"},
{"id": "h", "op": "done", "of": "g"},
{"id": "s", "op": "psum_scatter_start", "of": "h", "axis_name": "x"},
{"id": "d", "op": "done", "of": "s"})") == "");
}

TEST_CASE("future errors: only done reads a future") {
  const std::string future = "expected a value, got \"f\", a future that only done may read";
  CHECK(said_after(R"({"id": "r", "op": "add", "of": ["a", "f"]})") ==
        "/program/2/of: add \"r\": " + future);
  CHECK(said_after(R"({"id": "r", "op": "psum", "of": "f", "axis_name": "x"})") ==
        "/program/2/of: psum \"r\": " + future);
  CHECK(said_after(R"({"id": "r", "op": "optimization_barrier", "of": ["f"]})") ==
        "/program/2/of: optimization_barrier \"r\": " + future);
  CHECK(said_after("", R"("outputs": ["f"])") == "/outputs/0: " + future);
  CHECK(said_after("", R"("outputs": [{"id": "f", "spec": []}])") == "/outputs/0/id: " + future);
  CHECK(said_after("", R"("expect": [{"values": {"f": []}}])") ==
        "/expect/0/values/f: \"f\" is a future: expect what its done gives");
}

TEST_CASE("future errors: a start has the errors of its sync op, and only collectives have one") {
  CHECK(said_after(R"({"id": "s", "op": "psum_scatter_start", "of": "a", "axis_name": "x"})") ==
        "/program/2/scatter_dimension: psum_scatter_start \"s\": expected dimension 0 to be the "
        "group size 4, got 2; a tiled one need only be divisible by it");
  CHECK(said_after(R"({"id": "s", "op": "neg_start", "of": "a"})") ==
        "/program/2/op: unknown op \"neg_start\"");
  CHECK(said_after(R"({"id": "s", "op": "done_start", "of": "f"})") ==
        "/program/2/op: unknown op \"done_start\"");
}

TEST_CASE("future errors: a future of another program") {
  Small small;
  std::string text = small.text();
  const size_t begin = text.find("\"program\"");
  text.replace(begin, text.find("\"name\"") - begin - 2,
               R"("programs": [{"on": [0, 1], "do":
[{"id": "f", "op": "psum_start", "of": "a", "axis_name": []}]},
{"on": [2, 3], "do": [{"id": "d", "op": "done", "of": "f"}]}])");
  CHECK(refusal(text).ends_with(
      "/programs/1/do/0/of: expected the id of an array or of an earlier op of the same program, "
      "got \"f\", which is of program \"program 0\""));
}

TEST_CASE("future errors: an id that the body of a loop lacks, in one of several programs") {
  Small small;
  std::string text = small.text();
  const size_t begin = text.find("\"program\"");
  text.replace(begin, text.find("\"name\"") - begin - 2,
               R"("programs": [{"on": [0, 1], "do": [{"id": "l", "op": "fori_loop", "lower": 0,
"upper": 4, "carry": {"c": "a"}, "body": [{"id": "n", "op": "neg", "of": "nope"}],
"yield": {"c": "n"}}]}, {"on": [2, 3], "do": []}])");
  CHECK(refusal(text).ends_with(
      "/programs/0/do/0/body/0/of: expected the id of an array or of an earlier op, got \"nope\" "
      "(in l)"));
}

TEST_CASE("future errors: a loop may carry a future, as one in every iteration, but no token") {
  const auto loop = [](const std::string& first, const std::string& body, const std::string& next) {
    return said_after(R"({"id": "l", "op": "fori_loop", "lower": 0, "upper": 2, "carry": {"h": ")" +
                      first + R"("}, "body": [)" + body + R"(], "yield": {"h": ")" + next +
                      R"("}})");
  };
  CHECK(loop("f", R"({"id": "d", "op": "done", "of": "h"},
{"id": "g", "op": "psum_start", "of": "d", "axis_name": "x"})",
             "g") == "");
  CHECK(
      loop("f", R"({"id": "d", "op": "done", "of": "h"})", "d") ==
      "/program/2/yield/h: fori_loop \"l\": expected \"h\" to stay future f32[2], got f32[2] from "
      "\"d\" (in l)");
  CHECK(loop("k", R"({"id": "n", "op": "neg", "of": "a"})", "h") ==
        "/program/2/yield/h: fori_loop \"l\": expected \"h\" to be an array, got a token (in l)");
}

TEST_CASE("future errors: a token is for precv and optimization_barrier") {
  const std::string token =
      "expected an array, got \"k\", a token, which only precv and optimization_barrier take";
  CHECK(said_after(R"({"id": "r", "op": "neg", "of": "k"})") ==
        "/program/2/of: neg \"r\": " + token);
  CHECK(said_after(R"({"id": "r", "op": "psum", "of": "k", "axis_name": "x"})") ==
        "/program/2/of: psum \"r\": " + token);
  CHECK(said_after(R"({"id": "r", "op": "optimization_barrier", "of": ["k"]})") == "");
  CHECK(said_after("", R"("outputs": ["k"])") ==
        "/outputs/0: expected an array, got \"k\", a token");
  CHECK(said_after(R"({"id": "r", "op": "precv", "of": "a", "axis_name": "x", "perm": [[0, 1]],
"shape": [2], "dtype": "f32"})") ==
        "/program/2/of: precv \"r\": expected a token, as psend gives, got f32[2]{V:x}");
}

}  // namespace
}  // namespace orrery
