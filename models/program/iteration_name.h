#pragma once

// How iterations of loops and what is in them are named, stated only here. Iteration 3 of loop "l"
// is "l[3]", its op "s" is "l[3].s", and iteration 40 of the loop "m" in it is "l[3].m[40]".

#include <cstdint>
#include <string>
#include <string_view>

#include "models/base/callable.h"

namespace orrery {

/// "l[3]" of loop "l". Also makes what sites in an iteration add to their names: "[0][3]" in
/// iteration 3 of a loop in "[0]".
std::string with_index(std::string_view loop, int64_t index);

/// In place of the index where all iterations are meant: "l[].s".
inline constexpr std::string_view kAnyIndex = "[]";

/// "l[]" of loop "l": what the body has in place of an iteration.
std::string any_iteration(std::string_view loop);

/// The loop of an iteration: "l" of "l[3]".
std::string_view without_last_index(std::string_view iteration);

/// "l[3].s" of "s" in "l[3]".
std::string name_in(std::string_view iteration, std::string_view own);

/// "s" of "l[3].s", which is in "l[3]".
std::string_view own_name(std::string_view iteration, std::string_view name);

/// A text in which the iteration `from` is called `to`: "l[2].s" of "l[3].s".
std::string renamed(std::string text, std::string_view from, std::string_view to);

/// Visits each iteration that a name says it is in: of "l[3].m[40].y" loop "l" and 3, then "l[3].m"
/// and 40.
void for_each_iteration_in(std::string_view name,
                           FunctionRef<void(std::string_view loop, int64_t index)> visit);

/// The name of a loop in the scenario: "outer.l" of "outer[0].l".
std::string without_indices(std::string_view name);

}  // namespace orrery
