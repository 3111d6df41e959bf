#pragma once

// JSON text that people read: a list or an object that fits on a line stands on one line.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery {

class JsonText {
 public:
  /// A number, true, false or null, as it is.
  static JsonText raw(std::string token);
  static JsonText text(std::string_view value);
  static JsonText list(std::vector<JsonText> items);
  /// Members in the order given.
  static JsonText object(std::vector<std::pair<std::string, JsonText>> members);

  /// Lists and objects that end within `width` columns are written on one line; others with an item
  /// a line. The outermost always has an item a line. Ends with a newline.
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

}  // namespace orrery
