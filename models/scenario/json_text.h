#pragma once

// A `JsonText` is JSON for people: a list or an object that fits on a line stands on one line.
// attribute_text.cc makes those of a program's parts.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/program/attributes.h"

namespace orrery {

class JsonText {
 public:
  /// Makes a number, true, false or null of the token as it is.
  static JsonText raw(std::string token);
  static JsonText text(std::string_view value);
  static JsonText list(std::vector<JsonText> items);
  /// Makes an object with the members in the order given.
  static JsonText object(std::vector<std::pair<std::string, JsonText>> members);

  /// Returns the text. A list or an object that ends within `width` columns is written on one line;
  /// any other, and the outermost, has one line per item. The text ends with a newline.
  std::string lines(size_t width = 110) const;

 private:
  void write_flat(std::string& out) const;
  void write(std::string& out, size_t indent, size_t column, size_t width, bool outermost) const;

  std::string token_;  // empty for lists and objects
  std::string brackets_;
  std::vector<std::string> keys_;  // an object's, as tokens
  std::vector<JsonText> items_;
  size_t flat_ = 0;  // columns it takes on one line
};

// These write the parameters of ops as a scenario has them, and the numbers and lists in them.

JsonText integer_text(int64_t value);
/// Writes a number, or "Infinity", "-Infinity", "NaN", or a pair of them.
JsonText number_text(double value);
JsonText number_text(const NumberOrPair& value);
JsonText names_text(const std::vector<std::string>& names);
/// Writes a single name by itself, and several as a list.
JsonText name_or_names_text(const std::vector<std::string>& names);
JsonText integers_text(std::span<const int64_t> values);

template <class Items, class Write>
JsonText list_text(const Items& items, Write write) {
  std::vector<JsonText> texts;
  for (const auto& item : items)
    texts.push_back(write(item));
  return JsonText::list(std::move(texts));
}

JsonText attribute_text(const Attribute& attribute, ParameterKind kind);

/// Returns the keys of an mpmd_map that are its own, with their values.
std::vector<std::pair<std::string, JsonText>> core_map_members(const CoreMap& map);

}  // namespace orrery
