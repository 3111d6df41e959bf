// Compares values by the definitions of ops with values by schedules, where nothing is rounded.

#include "verifier/ragged/defined_values.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "simulator/schedule/lowered.h"
#include "tests/verifier/ragged_example.h"
#include "tests/verifier/scenario_rig.h"

namespace orrery::test {
namespace {

ValueId value_named(const Program& program, const std::string& name) {
  for (size_t v = 0; v < program.values.size(); ++v)
    if (program.values[v].name == name)
      return ValueId(v);
  FAIL("no value is called " << name);
  return ValueId();
}

/// Computes `name` by definitions, and compares each value on the way with the run's. Returns how
/// many ops that took.
size_t check_against_run(const ScenarioParts& parts, const std::string& name) {
  const Ran ran = run_parts(parts);
  const Scenario& scenario = *ran.report.scenario;
  const Program& program = scenario.program;
  const ValueId wanted = value_named(program, name);
  const std::vector<OpId> ops = ops_behind(program, std::vector{wanted});
  DefinedValues defined(scenario, ran.report.lowered->tables, 0);
  for (const OpId op : ops) {
    const std::optional<SiteId> site = program.op(op).site;
    if (site && program.site(*site).ops.front() != op)
      continue;  // done with the first
    defined.run(op);
  }
  for (const OpId op : ops)
    for (const ValueId result : program.op(op).results)
      for (uint32_t d = 0; d < program.mesh.devices(); ++d) {
        const std::optional<Tensor>& computed = ran.report.values->at(result, LogicalId(d));
        if (computed && !program.value(result).type.future && !program.value(result).type.token)
          CHECK_MESSAGE(defined.at(result, LogicalId(d)) == *computed,
                        program.value(result).name << " on device " << d);
      }
  return ops.size();
}

TEST_CASE("defined values: local ops and collectives are those of the run") {
  ScenarioParts parts;
  parts.arrays = R"({"a": {"shape": [32], "dtype": "s32", "spec": ["x"], "init": "iota"}})";
  parts.program = R"([{"id": "b", "op": "mul", "of": ["a", "a"]},
    {"id": "s", "op": "psum", "of": "b", "axis_name": "x"},
    {"id": "g", "op": "all_gather", "of": "s", "axis_name": "x", "tiled": true},
    {"id": "p", "op": "ppermute", "of": "g", "axis_name": "x", "perm": [[0, 1], [3, 2]]},
    {"id": "f", "op": "pmax_start", "of": "p", "axis_name": "x"},
    {"id": "m", "op": "done", "of": "f"},
    {"id": "other", "op": "add", "of": ["a", "a"]}])";
  parts.checked = false;
  CHECK(check_against_run(parts, "m") == 6);  // without "other"
  CHECK(check_against_run(parts, "s") == 2);
}

TEST_CASE("defined values: a device that gets nothing from a transfer has zeros") {
  ScenarioParts parts;
  parts.arrays = R"({"a": {"shape": [32], "dtype": "s32", "spec": ["x"], "init": "iota"}})";
  parts.program = R"([
    {"id": "u", "op": "psend", "of": "a", "axis_name": "x", "perm": [[0, 1], [1, 3]]},
    {"id": "v", "op": "precv", "of": "u", "axis_name": "x", "perm": [[0, 1], [1, 3]],
     "shape": [8], "dtype": "s32"},
    {"id": "w", "op": "add", "of": ["v", "a"]}])";
  parts.checked = false;
  CHECK(check_against_run(parts, "w") == 3);
}

TEST_CASE("defined values: several operands and tables of a ragged exchange") {
  CHECK(check_against_run(example(), "r") == 1);
}

TEST_CASE("defined values: the bytes of what ops read and give, on the devices that have it") {
  ScenarioParts parts;
  parts.program = R"([{"id": "b", "op": "add", "of": ["a", "a"]},
    {"id": "g", "op": "all_gather", "of": "b", "axis_name": "x", "tiled": true}])";
  const Ran ran = run_parts(parts);
  const Program& program = ran.report.scenario->program;
  // On each of four devices, "a" and "b" are 8 floats and "g" is 32.
  CHECK(bytes_of(program, std::vector{OpId(0)}) == 4 * (32 + 32));
  CHECK(bytes_of(program, std::vector{OpId(0), OpId(1)}) == 4 * (32 + 32 + 128));
}

}  // namespace
}  // namespace orrery::test
