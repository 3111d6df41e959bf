#pragma once

// This file treats characters in the same way in every locale. It has the letters and digits of
// ASCII, checks of text from files, which is printed to terminals unchanged, and what names of
// things that are shown together have in common.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// Returns the parts of an id: texts, and "*" for each number.
std::vector<std::string_view> shape_of(std::string_view id);

/// Returns one name for several ids. If the ids differ in numbers only, "*" stands for each number
/// that differs: "layer*.w1" for "layer0.w1" and "layer79.w1". Otherwise "*" stands for all between
/// their common beginning and end: "w*.c" for "wa.c" and "wb.c". Requires at least one id.
std::string common_id(std::span<const std::string_view> ids);

/// Returns the indices of the texts, grouped by what they are without their numbers. The groups are
/// in the order of their first texts.
std::vector<std::vector<size_t>> alike_but_for_numbers(std::span<const std::string> texts);

}  // namespace orrery
