#pragma once

// Letters of ASCII, whatever the locale.

#include <string>
#include <string_view>

namespace orrery {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

inline std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

}  // namespace orrery
