#pragma once

// Runs a scenario given by its program alone: four devices on a ring and one f32 array "a" of 8
// elements per device, unless a test gives other parts.

#include <optional>
#include <string>
#include <vector>

#include "verifier/run.h"

namespace orrery::test {

struct ScenarioParts {
  std::string program;  // the list after "program", or with `threads` after "programs"
  bool threads = false;
  size_t devices = 4;
  std::string fabric = R"("topology": "ring")";
  std::string bandwidth = "1 GB/s";
  std::string mesh = R"({"x": 4})";
  bool checked = true;  // "check_types"
  std::string memory = "1 MiB";
  std::string policy = "{}";  // "memory": how it is counted
  std::string arrays = R"({"a": {"shape": [32], "dtype": "f32", "spec": ["x"], "init": "iota"}})";
  std::string outputs = "[]";
  std::string expect = "[]";
  std::string faults = "[]";
};

struct Ran {
  Report report;

  /// Returns the only check with that name, or the first one that does not hold.
  const Check& check(const std::string& name) const;
  /// Returns the names of the checks that do not hold, in order.
  std::vector<std::string> broken() const;
};

Ran run_parts(const ScenarioParts& parts, const RunOptions& options = {});

}  // namespace orrery::test
