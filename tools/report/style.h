#pragma once

// A Style says how text looks: with colours if the terminal has them, in ASCII if it has nothing
// else. Text that goes to a file never has colours and always uses Unicode.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "verifier/verdict.h"

namespace orrery {

enum class Colours : uint8_t { Plain, Ansi };
enum class Letters : uint8_t { Ascii, Unicode };

/// This is the width of a text report; only longer names and messages exceed it.
inline constexpr size_t kReportColumns = 100;

/// Returns the columns that a UTF-8 text takes: one per code point, since none of ours is wide.
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

  /// Returns a tick, a question mark or a cross in its colour.
  std::string mark(Verdict verdict) const;
  /// Returns text in the colour of a verdict.
  std::string coloured(Verdict verdict, std::string_view text) const;
  /// Returns a bar of `width` columns, of which part / whole are filled. Any part > 0 fills at
  /// least one, and the bar is red from 100 % on.
  std::string bar(int64_t part, int64_t whole, size_t width) const;
  /// These return full and shaded cells of a timeline.
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

/// A Table has rows of cells. Each column is as wide as its widest cell, with two spaces between
/// columns.
class Table {
 public:
  enum class Align : uint8_t { Left, Right };

  explicit Table(std::vector<Align> columns) : align_(std::move(columns)) {}

  void row(std::vector<std::string> cells) { rows_.push_back({std::move(cells), {}}); }
  /// Adds a line that belongs to the row above and does not widen any column.
  void note(std::string text) { rows_.push_back({{}, std::move(text)}); }

  /// Returns the columns that the widest row takes.
  size_t width() const;
  /// Drops a column, which keeps its number.
  void leave_out(size_t column);

  /// Returns the lines, each after `indent` spaces. The first row is the head, which is dim.
  std::string text(const Style& style, size_t indent) const;

  /// Returns the table as HTML. Readers may sort its rows. A note is a row of its own.
  std::string html() const;

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

/// Returns `text` cut to `width` columns, with an ellipsis if something was cut.
std::string shortened(std::string_view text, size_t width, const Style& style);

/// Returns `text` with microseconds as the style's letters write them. Messages are written once
/// for text and JSON reports and say "1 us", which Unicode letters turn into "1 µs".
std::string with_units(std::string text, const Style& style);

/// Returns the number of lines.
size_t lines_of(const std::string& section);
/// Returns how many lines each section may have, so that all have at most `most` together: the
/// longest are cut to equally many. It is 4 or more.
size_t lines_each(const std::vector<std::string>& sections, size_t most);

/// Returns the sections in at most `most` lines together. If they have more, the longest are cut to
/// equally many lines, and their last line says how many are left out and how to see them.
std::string fitted(const std::vector<std::string>& sections, size_t most, std::string_view all,
                   const Style& style);

/// Returns the parts of a text between single spaces.
std::vector<std::string> words_of(const std::string& text);

/// Returns `words` in lines of at most `width` columns, each line after the first indented by
/// `indent`.
std::string wrapped_words(const std::vector<std::string>& words, size_t width, size_t indent);

}  // namespace orrery
