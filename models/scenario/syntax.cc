#include "models/scenario/syntax.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/base/characters.h"
#include "models/scenario/document.h"

namespace orrery {

namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// Returns the next position at or after `at` that is neither white space nor in a comment. A
/// comment that is not closed is a token of its own.
size_t skip_space(std::string_view text, size_t at) {
  if (at == 0 && text.substr(0, 3) == "\xEF\xBB\xBF")
    at = 3;
  while (at < text.size()) {
    if (is_space(text[at])) {
      ++at;
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find_first_of("\n\r", at), text.size());
    } else if (text.substr(at, 2) == "/*" && text.find("*/", at + 2) != std::string_view::npos) {
      at = text.find("*/", at + 2) + 2;
    } else {
      break;
    }
  }
  return at;
}

std::string expected_after(const SyntaxContext& context, bool separated) {
  switch (context.after) {
    case SyntaxAfter::Nothing:
      return "a value";
    case SyntaxAfter::Open:
      return context.in_object ? "a key in quotes or \"}\"" : "a value or \"]\"";
    case SyntaxAfter::Key:
      return separated ? "a value" : "\":\"";
    case SyntaxAfter::Value:
      break;
  }
  if (!context.enclosed)
    return fmt::format("the end of the {}", context.whole);
  if (separated)
    return context.in_object ? "a key in quotes" : "a value";
  return context.in_object ? "\",\" or \"}\"" : "\",\" or \"]\"";
}

/// Returns the text of a token that is not a string and begins at `at`.
std::string_view token(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && !is_space(text[end]) &&
         std::string_view(",:[]{}\"").find(text[end]) == std::string_view::npos)
    ++end;
  return text.substr(at, std::max<size_t>(end - at, 1));
}

/// Describes the token at `at`; `consumed` is how far the parser got into it.
std::string token_at(std::string_view text, size_t at, size_t consumed) {
  const char c = text[at];
  if (text.substr(at, 2) == "/*")
    return "a comment that is not closed";
  if (c == '"') {
    const char last = text[std::min(consumed, text.size()) - 1];
    const bool ended = consumed > at + 1 && last == '"';
    if (ended)
      return in_quotes(text.substr(at + 1, consumed - at - 2));
    if (last == '\n' || last == '\r')
      return "a string that is not closed on its line";
    if (static_cast<unsigned char>(last) < 0x20)
      return "a string with a control character in it (write it as an escape, such as \\t)";
    return "a string with a faulty escape or bytes that are not UTF-8";
  }
  return in_quotes(token(text, at));
}

}  // namespace

std::string_view not_finite_named(std::string_view word) {
  const bool negative = word.substr(0, 1) == "-";
  if (negative || word.substr(0, 1) == "+")
    word.remove_prefix(1);
  const std::string lower = in_lower_case(word);
  if (lower == "nan")
    return "NaN";
  if (lower == "inf" || lower == "infinity")
    return negative ? "-Infinity" : "Infinity";
  return "";
}

size_t number_length(std::string_view text) {
  size_t at = 0;
  const auto here = [&](std::string_view any) {
    return at < text.size() && any.find(text[at]) != std::string_view::npos;
  };
  const auto skip_digits = [&] {
    while (at < text.size() && is_digit(text[at]))
      ++at;
  };
  if (here("-"))
    ++at;
  if (here("0"))
    ++at;
  else
    skip_digits();
  if (here(".")) {
    ++at;
    skip_digits();
  }
  if (here("eE")) {
    ++at;
    if (here("+-"))
      ++at;
    skip_digits();
  }
  return at;
}

SyntaxError explain_syntax(std::string_view text, const SyntaxContext& context) {
  size_t at = skip_space(text, context.seen);
  bool separated = false;
  if (context.enclosed && at < text.size() &&
      ((context.after == SyntaxAfter::Key && text[at] == ':') ||
       (context.after == SyntaxAfter::Value && text[at] == ','))) {
    separated = true;
    at = skip_space(text, at + 1);
  }
  SyntaxError error;
  error.offset = at;
  error.at_end = at >= text.size();
  if (context.number_overflow) {
    error.message = fmt::format("expected a number that 64 bits can hold, got {}", token(text, at));
    // An element of an array may stand here, and elements may be infinite.
    if (context.enclosed && !context.in_object)
      error.message +=
          fmt::format("; infinity is written \"{}Infinity\"", text[at] == '-' ? "-" : "");
    error.at_value = true;
    return error;
  }
  // If a string is not closed, the parser reads to the end of the text within the string.
  const bool open_string = !error.at_end && text[at] == '"' && context.consumed >= text.size() &&
                           (text.back() != '"' || text.size() == at + 1);
  std::string got;
  if (error.at_end)
    got = fmt::format("the end of the {}", context.whole);
  else if (open_string)
    got = "a string that is not closed";
  else
    got = token_at(text, at, context.consumed);
  const std::string_view not_finite =
      error.at_end ? std::string_view() : not_finite_named(token(text, at));
  const bool in_list = context.enclosed && !context.in_object;
  const bool for_value = context.after == SyntaxAfter::Key     ? separated
                         : context.after == SyntaxAfter::Value ? separated && in_list
                                                               : in_list;
  if (!not_finite.empty() && for_value) {
    got += fmt::format("; write \"{}\", in quotes", not_finite);
    error.at_value = true;
  }
  error.message = fmt::format("expected {}, got {}", expected_after(context, separated), got);
  return error;
}

}  // namespace orrery
