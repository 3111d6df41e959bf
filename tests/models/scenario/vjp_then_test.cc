// Tests "then": the ops after a backward pass.

#include <string>

#include <doctest/doctest.h>

#include "models/program/rules.h"
#include "models/scenario/reader.h"
#include "tests/models/scenario/vjp_programs.h"

namespace orrery {
namespace {

using test::error_of;
using test::Small;

/// Returns a scenario on {x: 2} where "r" is minus "w". The ops `then`, of which the last is "new",
/// come after the transform.
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
  CHECK(scenario.program.ops.size() == 4);
  CHECK(scenario.program.loops.size() == 1);
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

}  // namespace
}  // namespace orrery
