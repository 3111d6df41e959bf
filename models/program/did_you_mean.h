#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// "; did you mean "x"?" of the nearest candidate; "" where none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace orrery
