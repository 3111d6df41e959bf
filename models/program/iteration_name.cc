#include "models/program/iteration_name.h"

#include <charconv>

#include <fmt/format.h>

namespace orrery {

std::string with_index(std::string_view loop, int64_t index) {
  return fmt::format("{}[{}]", loop, index);
}

std::string any_iteration(std::string_view loop) {
  return fmt::format("{}{}", loop, kAnyIndex);
}

std::string_view without_last_index(std::string_view iteration) {
  return iteration.substr(0, iteration.rfind('['));
}

std::string name_in(std::string_view iteration, std::string_view own) {
  return fmt::format("{}.{}", iteration, own);
}

std::string_view own_name(std::string_view iteration, std::string_view name) {
  return name.substr(iteration.size() + 1);
}

void for_each_iteration_in(std::string_view name,
                           FunctionRef<void(std::string_view loop, int64_t index)> visit) {
  for (size_t at = name.find('['); at != name.npos; at = name.find('[', at + 1)) {
    int64_t index = 0;
    const char* const end = name.data() + name.size();
    const auto [after, error] = std::from_chars(name.data() + at + 1, end, index);
    if (error == std::errc() && after != end && *after == ']')
      visit(name.substr(0, at), index);
  }
}

std::string in_any_iteration(std::string_view name) {
  std::string text;
  size_t copied = 0;
  for_each_iteration_in(name, [&](std::string_view loop, int64_t /*index*/) {
    text += name.substr(copied, loop.size() - copied);
    text += kAnyIndex;
    copied = name.find(']', loop.size()) + 1;
  });
  text += name.substr(copied);
  return text;
}

std::string without_indices(std::string_view name) {
  std::string text;
  size_t depth = 0;
  for (const char c : name) {
    depth += c == '[' ? 1 : 0;
    if (depth == 0)
      text += c;
    depth -= c == ']' && depth > 0 ? 1 : 0;
  }
  return text;
}

}  // namespace orrery
