#pragma once

// What does not depend on whether a program leaves out iterations of its loops (loop.h): what it
// shows when it leaves out all that it may, and which ops are iterations of the same op.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/function_ref.h"
#include "models/program/program.h"

namespace orrery {

/// Whether iterations of any loop are left out or may be.
bool has_long_loops(const Program& program);

/// Per op: whether the folded program has it. True for all ops of a folded program.
std::vector<bool> shown_when_folded(const Program& program);

/// Per op: its name without the indices of the loops it is in, "l[].m[].y"; "" for ops outside
/// loops.
std::vector<std::string> names_in_loops(const Program& program);

/// Visits each iteration that a name says it is in: of "l[3].m[40].y" loop "l" and 3, then "l[3].m"
/// and 40.
void for_each_iteration_in(std::string_view name,
                           FunctionRef<void(std::string_view loop, int64_t index)> visit);

/// The name of a loop in the scenario: "outer.l" of "outer[0].l".
std::string without_indices(std::string_view name);

}  // namespace orrery
