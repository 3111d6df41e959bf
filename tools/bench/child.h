#pragma once

// Runs a program as a process and measures its cost.

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

struct ChildCost {
  double cpu_seconds = 0;  // user and system time, with that of the children it waited for
  /// The largest resident set of the process or one of its children, in bytes. It is at least that
  /// of this process (10 MiB), which counts until the child starts the program.
  int64_t peak_bytes = 0;
};

/// Runs a program (a path) with these arguments and throws its output away. Throws
/// std::system_error if it does not exit with 0.
ChildCost run_child(std::vector<std::string> program_and_arguments);

}  // namespace orrery
