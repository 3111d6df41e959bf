#include "tools/report/json_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include <nlohmann/json.hpp>

namespace orrery {
namespace {

constexpr size_t kMostMembersInLine = 6;

constexpr uint64_t in_each_byte(uint64_t byte) {
  return byte * 0x0101010101010101U;
}

/// Sets the top bit of each byte of the word that JSON must escape or that may not be UTF-8:
/// control characters, quotes, backslashes, everything above '~'. (A subtraction sets it for bytes
/// below the subtrahend, also above bytes that are already found.)
uint64_t not_plain(uint64_t word) {
  const uint64_t other = word | (word + in_each_byte(0x80 - 0x7f)) | (word - in_each_byte(' ')) |
                         ((word ^ in_each_byte('"')) - in_each_byte(1)) |
                         ((word ^ in_each_byte('\\')) - in_each_byte(1));
  return other & in_each_byte(0x80);
}

/// Returns whether the text needs no escapes. It looks at eight characters at a time.
bool is_plain(std::string_view text) {
  uint64_t other = 0;
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    other |= not_plain(word);
  }
  uint64_t rest = in_each_byte(' ');
  if (at < text.size())
    std::memcpy(&rest, text.data() + at, text.size() - at);
  return (other | not_plain(rest)) == 0;
}

std::string dumped(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Appends the text in quotes. Most texts that need escapes only quote a name.
void append_escaped(std::string& out, std::string_view text) {
  const size_t at = out.size();
  out += '"';
  for (const char c : text) {
    if (c < ' ' || c > '~') {
      out.resize(at);
      out += dumped(text);
      return;
    }
    if (c == '"' || c == '\\')
      out += '\\';
    out += c;
  }
  out += '"';
}

/// Appends the text in quotes, and then `after`. All is appended at once: each append checks the
/// capacity.
void append_quoted(std::string& out, std::string_view text, std::string_view after = "") {
  if (!is_plain(text)) {
    append_escaped(out, text);
    out.append(after);
    return;
  }
  const size_t at = out.size();
  out.resize(at + 1 + text.size() + 1 + after.size());
  char* to = out.data() + at;
  *to++ = '"';
  to = std::ranges::copy(text, to).out;
  *to++ = '"';
  std::ranges::copy(after, to);
}

template <class Integer>
void append_number(std::string& out, Integer number) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

}  // namespace

std::string json_quoted(std::string_view text) {
  std::string quoted;
  append_quoted(quoted, text);
  return quoted;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  item();
  append_quoted(out_, name, open_.back().lines ? ": " : ":");
  if (!open_.back().lines)
    gaps_.push_back({out_.size(), false});
  return *this;
}

void JsonWriter::value(std::nullptr_t) {
  element();
  out_ += "null";
}

void JsonWriter::value(bool truth) {
  element();
  out_ += truth ? "true" : "false";
}

void JsonWriter::value(double number) {
  element();
  // This writes what nlohmann::json::dump writes, without its overhead.
  std::array<char, 64> digits{};
  const char* const end =
      nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(), number);
  out_ += std::string_view(digits.data(), static_cast<size_t>(end - digits.data()));
}

void JsonWriter::value(std::string_view text) {
  element();
  append_quoted(out_, text);
}

void JsonWriter::integer(int64_t number) {
  element();
  append_number(out_, number);
}

void JsonWriter::natural(uint64_t number) {
  element();
  append_number(out_, number);
}

void JsonWriter::begin(char bracket) {
  element();
  open_.push_back({bracket});
}

void JsonWriter::end(char bracket) {
  const Open ended = open_.back();
  open_.pop_back();
  if (ended.items == 0)
    out_ += ended.bracket;
  else if (ended.lines)
    new_line(open_.size());
  out_ += bracket;
}

void JsonWriter::element() {
  if (!open_.empty() && open_.back().bracket == '[')
    item();
}

void JsonWriter::item() {
  const size_t depth = open_.size();
  Open& open = open_.back();
  if (open.items == 0) {
    if (depth > 1 && !open_[depth - 2].lines)
      split(depth - 1);
    open.at = out_.size();
    gaps_.clear();
  }
  const char before = open.items == 0 ? open.bracket : ',';
  ++open.items;
  if (open.bracket == '{' && open.items > kMostMembersInLine && !open.lines)
    split(depth);
  if (open.lines) {
    new_line(depth, {&before, 1});
  } else {
    out_ += before;
    gaps_.push_back({out_.size(), true});
  }
}

/// Puts each item so far of the array or object at this depth on a line of its own.
void JsonWriter::split(size_t depth) {
  Open& open = open_[depth - 1];
  open.lines = true;
  const std::string in_line = out_.substr(open.at);
  out_.resize(open.at);
  size_t copied = 0;
  for (const Gap& gap : gaps_) {
    const size_t upto = gap.at - open.at;
    out_.append(in_line, copied, upto - copied);
    copied = upto;
    if (gap.line)
      new_line(depth);
    else
      out_ += ' ';
  }
  out_.append(in_line, copied);
  gaps_.clear();
}

void JsonWriter::new_line(size_t depth, std::string_view before) {
  const size_t at = out_.size();
  out_.resize(at + before.size() + 1 + 2 * depth, ' ');
  *std::ranges::copy(before, out_.data() + at).out = '\n';
}

}  // namespace orrery
