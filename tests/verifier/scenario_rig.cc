#include "tests/verifier/scenario_rig.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/scenario/reader.h"

namespace orrery::test {

const Check& Ran::check(const std::string& name) const {
  const Check* found = nullptr;
  for (const Check& check : report.checks)
    if (check.name == name && (found == nullptr || check.verdict > found->verdict))
      found = &check;
  REQUIRE_MESSAGE(found != nullptr, name);
  return *found;
}

std::vector<std::string> Ran::broken() const {
  std::vector<std::string> names;
  for (const Check& check : report.checks)
    if (!check.holds())
      names.push_back(check.name);
  return names;
}

Ran run_parts(const ScenarioParts& parts, const RunOptions& options) {
  const std::string text = fmt::format(
      R"({{"orrery": 1, "name": "test",
          "cluster": {{"devices": {}, {}, "bandwidth": "{}", "latency": "1 us",
                      "memory": "{}", "memory_bandwidth": "1 TB/s", "flops": {{"f32": "1 TFLOP/s"}}}},
          {}"mesh": {}, "arrays": {}, "{}": {}, "outputs": {}, "expect": {},
          "faults": {}, "memory": {}}})",
      parts.devices, parts.fabric, parts.bandwidth, parts.memory,
      parts.checked ? "" : "\"check_types\": false, ", parts.mesh, parts.arrays,
      parts.threads ? "programs" : "program", parts.program, parts.outputs, parts.expect,
      parts.faults, parts.policy);
  return {run(read_scenario("test.json", text, options.limits), options)};
}

}  // namespace orrery::test
