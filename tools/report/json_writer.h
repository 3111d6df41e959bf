#pragma once

// Writes JSON text directly, without building a tree. An array or object goes on one line if it
// holds no array or object but empty ones, and, if an object, at most six members.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Appends one value to `out`, which must outlive the writer. Inside an object each value follows
/// its key:
///   json.object([&] { json.key("holds").value(true); });
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& key(std::string_view name);

  void value(std::nullptr_t);
  void value(bool truth);
  template <std::integral Integer>
  void value(Integer number) {
    if constexpr (std::signed_integral<Integer>)
      integer(number);
    else
      natural(number);
  }
  void value(double number);  // finite
  /// Bytes that are not UTF-8 (in file names) become U+FFFD.
  void value(std::string_view text);
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(const char* text) { value(std::string_view(text)); }
  template <class T>
  void value(const std::optional<T>& maybe) {
    if (maybe)
      value(*maybe);
    else
      value(nullptr);
  }

  template <class Members>
  void object(Members members) {
    begin('{');
    members();
    end('}');
  }
  template <class Elements>
  void array(Elements elements) {
    begin('[');
    elements();
    end(']');
  }

 private:
  /// This is an array or object that is not ended yet. Its bracket is written with its first item,
  /// since an empty one does not split the line that it is on.
  struct Open {
    char bracket = '[';
    bool lines = false;  // one item a line; else all on one line so far
    size_t items = 0;
    size_t at = 0;  // of the bracket, once there is an item
  };

  void begin(char bracket);
  void end(char bracket);
  void element();  // before a value
  void item();     // before an element or a key
  void split(size_t depth);
  void new_line(size_t depth, std::string_view before = "");
  void integer(int64_t number);
  void natural(uint64_t number);

  std::string& out_;
  std::vector<Open> open_;
  /// This is a place where the innermost array or object with items would be split into lines, or
  /// get a space after a colon. Gaps are kept as long as it is on one line. The offsets ascend.
  struct Gap {
    size_t at;
    bool line;
  };
  std::vector<Gap> gaps_;
};

/// Returns the text as a JSON string, in its quotes.
std::string json_quoted(std::string_view text);

}  // namespace orrery
