#include "models/program/did_you_mean.h"

#include <fmt/format.h>

#include "models/base/diagnostics.h"

namespace orrery {

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::string_view near = near_miss(word, candidates);
  return near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near);
}

}  // namespace orrery
