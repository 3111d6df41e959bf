#pragma once

// This file alone says how iterations of loops, and the ops and values in them, are named.
// Iteration 3 of loop "l" is "l[3]". Its op "s" is "l[3].s". Iteration 40 of the loop "m" in it is
// "l[3].m[40]".

#include <cstdint>
#include <string>
#include <string_view>

#include "models/base/callable.h"

namespace orrery {

/// Returns "l[3]" for loop "l". Also makes the suffix of the names of sites in an iteration:
/// "[0][3]" in iteration 3 of a loop whose own suffix is "[0]".
std::string with_index(std::string_view loop, int64_t index);

/// It replaces the index if all iterations are meant: "l[].s".
inline constexpr std::string_view kAnyIndex = "[]";

/// Returns "l[]" for loop "l". Names of the body begin with it, in place of an iteration.
std::string any_iteration(std::string_view loop);

/// Returns the loop of an iteration: "l" for "l[3]".
std::string_view without_last_index(std::string_view iteration);

/// Returns "l[3].s" for "s" in "l[3]".
std::string name_in(std::string_view iteration, std::string_view own);

/// Returns "s" for "l[3].s", which is in "l[3]".
std::string_view own_name(std::string_view iteration, std::string_view name);

/// Visits each iteration that a name says it is in. For "l[3].m[40].y" it visits loop "l" and 3,
/// then "l[3].m" and 40.
void for_each_iteration_in(std::string_view name,
                           FunctionRef<void(std::string_view loop, int64_t index)> visit);

/// Returns the name for all iterations: "l[].m[].y" for "l[3].m[40].y".
std::string in_any_iteration(std::string_view name);

/// Returns the name in the scenario of a loop, or of an op or value in one: "outer.l" for
/// "outer[0].l".
std::string without_indices(std::string_view name);

}  // namespace orrery
