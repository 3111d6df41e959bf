#pragma once

// Runs a command in this process and captures its output.

#include <sstream>
#include <string>
#include <vector>

#include "tools/cli/commands.h"

namespace orrery::test {

struct Ran {
  Outcome outcome = Outcome::Holds;
  std::string out;
  std::string err;
};

/// Runs the command. `cuda_library` is the file of CUDA's driver, and `cublaslt_library` that of
/// cuBLASLt; if empty, the system's library is used.
inline Ran ran(std::vector<std::string> arguments, const std::string& cuda_library = {},
               const std::string& cublaslt_library = {}) {
  std::ostringstream out;
  std::ostringstream err;
  const Terminal terminal{out, err, Style(), Style(), false, cuda_library, cublaslt_library};
  const Outcome outcome = run_command_line(std::move(arguments), terminal);
  return {outcome, out.str(), err.str()};
}

/// Returns the path of a file of the project: in_tree("scenarios/quickstart.json").
inline std::string in_tree(const std::string& path) {
  return std::string(ORRERY_SOURCE_ROOT) + "/" + path;
}

}  // namespace orrery::test
