#pragma once

// Diagnostics are errors in the user's input, each with its place. All errors of a file are
// collected before it is refused, so that the user sees them at once.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/quantity.h"

namespace orrery {

/// A TextPosition is a position in a text. Line and column count from 1.
struct TextPosition {
  uint32_t line = 1;
  uint32_t column = 1;
  friend constexpr auto operator<=>(const TextPosition&, const TextPosition&) = default;
};

/// An Origin is the place in the input that a diagnostic is about.
struct Origin {
  /// A JSON pointer (RFC 6901), or a path of the same form for other formats. The pointer is empty
  /// for the whole input.
  std::string pointer = {};
  /// The position in the text; empty if there is no text, as for an option, a file that cannot be
  /// read, or a program built in memory.
  std::optional<TextPosition> at = {};
  /// The text that tells several readings of one place apart, as by the loop iteration:
  /// " (in l[3])", with the space. The text is empty if there is one reading.
  std::string note = {};
  friend bool operator==(const Origin&, const Origin&) = default;
};

/// Finds the line and column of a byte of a text.
class TextLines {
 public:
  explicit TextLines(std::string_view text);
  TextPosition at(size_t offset) const;

 private:
  std::vector<size_t> begins_;  // where each line begins
};

/// A Diagnostic is one error. `message` says what was expected and what was found.
struct Diagnostic {
  Origin origin;
  std::string message;
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

/// The user's input is wrong. what() has a line for each diagnostic, as "ring8.json:12:20:
/// /links/3/bandwidth: expected a rate such as "50 GB/s", got "50G"", or without a position as
/// "ring8.json: cannot be read". Loaders and run() throw it. main catches it once and exits with 2.
class InputError : public std::runtime_error {
 public:
  InputError(std::string_view file, std::vector<Diagnostic> diagnostics);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// An amount that a scenario gives is too large for its program. what() is the whole message: what
/// was expected of the key, and what it has.
class KeyOverflow : public Overflow {
 public:
  KeyOverflow(Origin key, const std::string& what) : Overflow(what), key_(std::move(key)) {}
  const Origin& key() const { return key_; }

 private:
  Origin key_;
};

/// A Diagnostics collects the errors of one file.
class Diagnostics {
 public:
  /// This is the most errors that are collected. Nobody reads more, and a file full of errors must
  /// not cost more than a correct one.
  static constexpr size_t kMost = 200;

  explicit Diagnostics(std::string file) : file_(std::move(file)) {}

  /// Adds an error. Throws InputError, as throw_if_any does, once there are kMost.
  void add(Origin origin, std::string message);
  /// Adds an error of the file as a whole.
  void add(std::string message) { add(Origin{}, std::move(message)); }

  /// Returns `origin` with the present note, for errors that are found later.
  Origin noted(Origin origin) const;

  /// While a Note lives, its text is appended to each message. It says to which reading of a place
  /// in the file (to which loop iteration) the message belongs.
  class Note {
   public:
    Note(Diagnostics& diagnostics, std::string text)
        : diagnostics_(diagnostics), outer_(std::exchange(diagnostics.note_, std::move(text))) {}
    ~Note() { diagnostics_.note_ = std::move(outer_); }
    Note(const Note&) = delete;
    Note& operator=(const Note&) = delete;

   private:
    Diagnostics& diagnostics_;
    std::string outer_;
  };

  bool empty() const { return diagnostics_.empty(); }
  /// Returns the number of errors added, with those that repeat an earlier one.
  size_t size() const { return added_; }
  const std::string& file() const { return file_; }

  /// Throws InputError with all diagnostics, each once, in the order of their positions in the
  /// file, unless there are none.
  void throw_if_any() const;

 private:
  /// A Noted is an error with the note of its first occurrence. Later occurrences are only counted.
  struct Noted {
    Diagnostic error;
    std::string note;
    size_t again = 0;
  };

  std::string file_;
  std::vector<Noted> diagnostics_;
  std::map<std::pair<std::string, std::string>, size_t> with_note_;  // by pointer and message
  size_t added_ = 0;
  std::string note_;
};

/// Returns `text` in quotes for a message, on one line, and shortened if it is long.
std::string in_quotes(std::string_view text);

/// Returns the candidate with the smallest edit distance to `word`, if that distance is at most two
/// and less than half of the word's length (a likely typo). Returns an empty text otherwise. Ties
/// go to the earlier candidate. An edit adds, drops or replaces a letter, or swaps two neighbours.
/// Upper and lower case count only where two candidates are equally near. With more than 4,096
/// candidates there is no search.
std::string_view near_miss(std::string_view word, const std::vector<std::string_view>& candidates);

/// Returns "; did you mean "x"?" with the nearest candidate, or "" if none is near. If few
/// candidates are the word, a dot and a name, as "l.g" and "l.h" for "l", all of these are named.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace orrery
