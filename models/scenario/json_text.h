#pragma once

// A `JsonText` is JSON for people: a list or an object that fits on a line stands on one line.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery {

class DocumentNode;

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
  /// Returns the text on one line, without a newline.
  std::string line() const;

 private:
  void write_flat(std::string& out) const;
  void write(std::string& out, size_t indent, size_t column, size_t width, bool outermost) const;

  std::string token_;  // empty for lists and objects
  std::string brackets_;
  std::vector<std::string> keys_;  // an object's, as tokens
  std::vector<JsonText> items_;
  size_t flat_ = 0;  // columns it takes on one line
};

/// Returns the value as it is written, without comments.
JsonText json_of(DocumentNode node);

}  // namespace orrery
