#pragma once

// This file treats characters in the same way in every locale. It has the letters and digits of
// ASCII, and checks of text from files, which is printed to terminals unchanged.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace orrery {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Returns the text with the letters A to Z in lower case.
inline std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

/// Returns the offset of the first byte that is not valid UTF-8 (RFC 3629), or nothing if all are.
std::optional<size_t> not_utf8_at(std::string_view text);

/// Returns whether UTF-8 text has a control character (C0, DEL or C1), which terminals may obey.
bool has_control_character(std::string_view text);

}  // namespace orrery
