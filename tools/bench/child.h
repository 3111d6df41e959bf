#pragma once

// A program run in a process of its own, as a user runs it, and what it cost.

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

struct ChildCost {
  double cpu_seconds = 0;  // user and system, of it and of the children it waited for
  /// The largest resident set of one of them. Not below this process's own at the start of the
  /// child, which shares its memory until it runs the program: 10 MiB.
  int64_t peak_bytes = 0;
};

/// Runs a program (a path) with these arguments, its output thrown away. Throws std::system_error
/// where it does not exit with 0.
ChildCost run_child(std::vector<std::string> program_and_arguments);

}  // namespace orrery
