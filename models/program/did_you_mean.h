#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Returns "; did you mean "x"?" with the nearest candidate, or "" if none is near. If the word is
/// a loop whose few values are candidates, as "l" for "l.g" and "l.h", all these values are named.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace orrery
