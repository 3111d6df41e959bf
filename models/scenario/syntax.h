#pragma once

// This says in our words why a text is not JSON. The JSON parser only tells that it stopped, and
// after which value; the text itself shows the rest.

#include <cstddef>
#include <string>
#include <string_view>

namespace orrery {

/// It says what the parser had just read when it stopped.
enum class SyntaxAfter { Nothing, Open, Key, Value };

struct SyntaxContext {
  SyntaxAfter after = SyntaxAfter::Nothing;
  bool enclosed = false;   // a list or an object is open
  bool in_object = false;  // the innermost of them is an object
  size_t seen = 0;         // where that value's text ends
  size_t consumed = 0;     // how far the parser had read
  bool number_overflow = false;
  std::string_view whole = "file";  // what the text is
};

struct SyntaxError {
  size_t offset = 0;  // where the token stands that was not expected
  std::string message;
  bool at_end = false;    // the text ends there
  bool at_value = false;  // the token is a value, though not one of JSON
};

/// Returns the position and the message of the error. Requires a text without a byte of 0.
SyntaxError explain_syntax(std::string_view text, const SyntaxContext& context);

/// Returns the length of the number with which `text` begins. Requires that it begins with one.
size_t number_length(std::string_view text);

/// Returns "NaN", "Infinity" or "-Infinity" if the word means that (nan, +inf, -INFINITY), else "".
std::string_view not_finite_named(std::string_view word);

}  // namespace orrery
