// Tests gradients of compute, take and scatter_add.

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/scenario/reader.h"
#include "tests/models/scenario/support.h"
#include "tests/models/scenario/vjp_rig.h"

namespace orrery::test {
namespace {

TEST_CASE("transpose: a take that fills with another number than 0 is not linear") {
  CHECK(refusal(looped(R"([{"id": "l", "op": "take", "of": ["w", "i"], "axis": 0, )"
                       R"("fill_value": 9}])",
                       R"({"transpose": {"of": "l", "with_respect_to": "w"}})",
                       R"(, "i": {"shape": [2], "dtype": "s32"})")) ==
        "f:5:13: /program/0: expected an op that is linear in what depends on \"with_respect_to\", "
        "got \"l\": take is not linear with a fill_value that is not 0");
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
}  // namespace orrery::test
