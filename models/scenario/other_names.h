#pragma once

// What ops of other libraries are called here, for messages about unknown ops.

#include <string>
#include <string_view>

namespace orrery {

/// What to write instead of an op that is unknown here but usual elsewhere: "did you mean "psum"?"
/// for all_reduce. "" for other words. Upper case and hyphens make no difference.
std::string op_of_other_name(std::string_view word);

}  // namespace orrery
