#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// "; did you mean "x"?" of the nearest candidate; of the parts of what several candidates name,
/// such as "l.g" and "l.h" for "l", all. "" where none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace orrery
