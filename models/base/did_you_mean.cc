#include <algorithm>

#include <fmt/format.h>

#include "models/base/diagnostics.h"

namespace orrery {

namespace {

constexpr size_t kMostParts = 4;

bool is_part_of(std::string_view candidate, std::string_view word) {
  return candidate.size() > word.size() + 1 && candidate.starts_with(word) &&
         candidate[word.size()] == '.' &&
         candidate.find_first_of(".[", word.size() + 1) == std::string_view::npos;
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  std::vector<std::string_view> parts;
  for (const std::string_view candidate : candidates)
    if (is_part_of(candidate, word))
      parts.push_back(candidate);
  if (parts.size() > 1 && parts.size() <= kMostParts) {
    std::sort(parts.begin(), parts.end());
    const std::string_view last = parts.back();
    parts.pop_back();
    return fmt::format("; did you mean \"{}\" or \"{}\"?", fmt::join(parts, "\", \""), last);
  }
  const std::string_view near = near_miss(word, candidates);
  return near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near);
}

}  // namespace orrery
