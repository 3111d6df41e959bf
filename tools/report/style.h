#pragma once

// How text looks: colours where the terminal has them, ASCII where it has only that. Text written
// to a file is always the same: no colours, all of Unicode.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "verifier/verdict.h"

namespace orrery {

enum class Colours : uint8_t { Plain, Ansi };
enum class Letters : uint8_t { Ascii, Unicode };

/// The width of a text report; only longer names and messages exceed it.
inline constexpr size_t kReportColumns = 100;

/// Columns that a UTF-8 text takes: one per code point (none of ours are wide).
size_t columns(std::string_view text);

class Style {
 public:
  Style() = default;
  Style(Colours colours, Letters letters) : colours_(colours), letters_(letters) {}

  bool ascii() const { return letters_ == Letters::Ascii; }
  std::string good(std::string_view text) const { return wrapped("32", text); }
  std::string bad(std::string_view text) const { return wrapped("1;31", text); }
  std::string dim(std::string_view text) const { return wrapped("2", text); }
  std::string bold(std::string_view text) const { return wrapped("1", text); }

  /// A tick, a question mark or a cross in its colour.
  std::string mark(Verdict verdict) const;
  /// Text in the colour of a verdict.
  std::string coloured(Verdict verdict, std::string_view text) const;
  /// `width` columns, of which part/whole are filled; any part > 0 fills one. Red from 100 % on.
  std::string bar(int64_t part, int64_t whole, size_t width) const;
  /// Stretches of a timeline.
  std::string block(size_t width) const;
  std::string shade(size_t width) const;
  const char* arrow() const { return ascii() ? "->" : "→"; }
  const char* times() const { return ascii() ? "x" : "×"; }
  const char* dot() const { return ascii() ? "-" : "·"; }
  const char* corner() const { return ascii() ? "`-" : "└"; }

 private:
  std::string wrapped(const char* code, std::string_view text) const;

  Colours colours_ = Colours::Plain;
  Letters letters_ = Letters::Unicode;
};

/// Rows of cells, each column as wide as its widest cell, two spaces between.
class Table {
 public:
  enum class Align : uint8_t { Left, Right };

  explicit Table(std::vector<Align> columns) : align_(std::move(columns)) {}

  void row(std::vector<std::string> cells) { rows_.push_back({std::move(cells), {}}); }
  /// A line that belongs to the row above and does not widen any column.
  void note(std::string text) { rows_.push_back({{}, std::move(text)}); }

  /// Of the widest row.
  size_t width() const;
  /// Drops a column, which keeps its number.
  void leave_out(size_t column);

  /// Every line with `indent` spaces before it and a newline after; the first row, the head, is
  /// dim.
  std::string text(const Style& style, size_t indent) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string note;
  };
  std::vector<size_t> widths() const;

  std::vector<Align> align_;
  std::vector<bool> left_out_ = std::vector<bool>(align_.size(), false);
  std::vector<Row> rows_;
};

/// `text` cut to `width` columns, with an ellipsis where something was cut.
std::string shortened(std::string_view text, size_t width, const Style& style);

/// Split at each space.
std::vector<std::string> words_of(const std::string& text);

/// `words` in lines of at most `width` columns, each line after the first indented by `indent`.
std::string wrapped_words(const std::vector<std::string>& words, size_t width, size_t indent);

}  // namespace orrery
