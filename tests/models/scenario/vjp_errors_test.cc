// Tests gradients that are refused, and the messages.

#include <string>

#include <doctest/doctest.h>

#include "models/program/rules.h"
#include "models/scenario/reader.h"
#include "tests/models/scenario/vjp_programs.h"

namespace orrery {
namespace {

using test::error_of;
using test::kOfR;
using test::kSend;
using test::kVaryingCtR;
using test::received;
using test::refusal;
using test::Small;
using test::with_vjp;

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
  CHECK(error_of(with_vjp(psum, kOfR + R"(, "recompute": "all", "prefetch": 1)")) ==
        "/transform/vjp: expected \"recompute\" to name a collective in a loop whose operands "
        "follow from the index and from values outside of the loop, as \"prefetch\" starts such "
        "early, got none");
  CHECK(error_of(with_vjp(psum, kOfR + R"(, "prefetch": 1)")) == "");
  CHECK(error_of(with_vjp(psum, kOfR + R"(, "keep_loops": 8)")) ==
        "/transform/vjp/keep_loops: expected true or false, got 8");
  CHECK(error_of(with_vjp(psum, kOfR + R"(, "prefetch": 65)")) ==
        "/transform/vjp/prefetch: expected a number of iterations from 0 to 64, "
        "got 65");
  CHECK(error_of(with_vjp(psum, kOfR, "")) ==
        "/transform/vjp/of/0: expected an array \"ct_r\", f32[2] on a device, which \"transform\" "
        "needs");
  CHECK(
      error_of(with_vjp(psum, kOfR, R"("ct_r": {"shape": [4], "dtype": "f32", "spec": ["x"]})")) ==
      "/arrays/ct_r: expected f32[2] on each device, as \"transform\" needs it, got "
      "f32[2]{V:x}");
  CHECK(error_of(with_vjp(psum, kOfR, R"("ct_r": {"shape": [2], "dtype": "f32", "on": [0]})")) ==
        "/arrays/ct_r: expected f32[2] on each device, as \"transform\" needs it, got f32[2]");
  // It is given per device without "varying", and so varies over all axes.
  CHECK(error_of(with_vjp(psum, kOfR, R"("ct_r": {"local_shape": [2], "dtype": "f32",
                                      "per_device": [[1, 2], [1, 2]]})")) ==
        "/arrays/ct_r: expected f32[2] on each device, as \"transform\" needs it, got "
        "f32[2]{V:x}; say \"varying\": []");
}

TEST_CASE("vjp: a refused op of the backward pass is at the op that it goes back through") {
  // exp moves 2 * 4e18 bytes, fewer than 2^63; the mul of its gradient moves 3 * 4e18.
  const std::string huge = R"("q": {"shape": [4000000000000000000], "dtype": "f8e5m2"}, )"
                           R"("ct_r": {"shape": [4000000000000000000], "dtype": "f8e5m2"})";
  const std::string of_q = R"("of": ["r"], "with_respect_to": ["q"])";
  const std::string refused =
      "the backward pass has an op that is refused: mul \"r.bwd\": expected fewer than 2^63 bytes "
      "and operations, got more for operands (f8e5m2[4000000000000000000], "
      "f8e5m2[4000000000000000000])";
  CHECK(refusal(with_vjp(R"([{"id": "r", "op": "exp", "of": "q"}])", of_q, huge)) ==
        "f:5:13: /program/0: " + refused);
  // The last iteration of a loop goes back first.
  CHECK(refusal(with_vjp(R"([{"id": "r", "op": "fori_loop", "lower": 0, "upper": 9, )"
                         R"("carry": {"h": "q"}, "body": [{"id": "y", "op": "exp", "of": "h"}], )"
                         R"("yield": {"h": "y"}}])",
                         of_q, huge)) ==
        "f:5:98: /program/0/body/0: the backward pass has an op that is refused: mul "
        "\"r.y.bwd\": "
        "expected fewer than 2^63 bytes and operations, got more for operands "
        "(f8e5m2[4000000000000000000], f8e5m2[4000000000000000000]) (in r[8])");
}

TEST_CASE("vjp: iterations that save more than there is room for are refused at their loop") {
  const auto of_loop = [](const std::string& lower, const std::string& body) {
    return refusal(with_vjp(
        R"([{"id": "r", "op": "fori_loop", "lower": )" + lower +
            R"(, "upper": 2147483647, "carry": {"h": "q"}, "yield": {"h": "y"}, "body": [)" + body +
            "]}]",
        R"("of": ["r"], "with_respect_to": ["q"], "keep_loops": true)",
        R"("q": {"shape": [8], "dtype": "f32"}, "ct_r": {"shape": [8], "dtype": "f32"})"));
  };
  CHECK(
      of_loop("-5", R"({"id": "y", "op": "exp", "of": "h"})") ==
      "f:5:13: /program/0: the backward pass has an op that is refused: full \"r.last\": expected "
      "a value of s32, got 2147483651");
  CHECK(of_loop("0", R"({"id": "y", "op": "fori_loop", "lower": 0, "upper": 2147483647, )"
                     R"("carry": {"g": "h"}, "yield": {"g": "m"}, )"
                     R"("body": [{"id": "m", "op": "exp", "of": "g"}]})") ==
        "f:5:13: /program/0: the backward pass has an op that is refused: broadcast_in_dim "
        "\"r.y.m.saved.zeros.1\": expected fewer than 2^63 bytes and operations, got more for "
        "operands (f32[])");
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

TEST_CASE("vjp: attention of reduced operands has no gradient") {
  Small s;
  s.arrays = R"({"q": {"shape": [2, 2, 2], "dtype": "f32", "reduced": ["x"]},
"ct_o": {"shape": [2, 2, 2], "dtype": "f32", "unreduced": ["x"]}})";
  s.program = R"([{"id": "o", "op": "dot_product_attention", "of": ["q", "q", "q"]}])";
  s.more = R"("transform": {"vjp": {"of": ["o"], "with_respect_to": ["q"]}})";
  CHECK(refusal(s.text()) ==
        "f:6:13: /program/0: expected an op that has a gradient between the values of "
        "\"with_respect_to\" and \"of\", got \"o\": attention has no gradient of reduced operands");
}

TEST_CASE("vjp: these ops of numbers have no backward rule") {
  std::string without;
  for (const OpRules& op : all_rules())
    if (op.transforms.backward == nullptr)
      without += std::string(op.name) + " ";
  // Integers and pred have no gradient, nor have ops that compare or count. done passes its
  // cotangent to the start. Gradients of attention have none of their own.
  CHECK(without ==
        "pmax pmin pargmax pargmin done axis_index axis_size eq ne lt le gt ge full iota "
        "create_token dot_product_attention_vjp mpmd_map ");
}

}  // namespace
}  // namespace orrery
