#pragma once

// What does not depend on whether a program leaves out iterations of its loops (loop.h): what it
// shows when it leaves out all that it may, and which ops are iterations of the same op.

#include <cstdint>
#include <string>
#include <vector>

#include "models/program/program.h"

namespace orrery {

/// Whether iterations of any loop are left out or may be.
bool has_long_loops(const Program& program);

/// Per op: whether the folded program has it. True for all ops of a folded program.
std::vector<bool> shown_when_folded(const Program& program);

/// Names without the indices of loops. Empty for ops outside loops, whatever they are called. An op
/// of a backward pass is named after the one that it goes back through, "l[3].y.bwd", and counts as
/// one of that one's iteration.
struct NameInLoops {
  std::string loop;  // the innermost one: "l[].m[]"
  std::string op;    // "l[].m[].y"
};

/// Per op.
std::vector<NameInLoops> names_in_loops(const Program& program);

}  // namespace orrery
