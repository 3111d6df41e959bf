#pragma once

// What is wrong with the user's input, and where. Every fault of a file is collected before the
// file is refused, so that the user sees them all at once.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery {

/// A place in a text. Line and column count from 1.
struct TextPlace {
  uint32_t line = 1;
  uint32_t column = 1;
  friend constexpr auto operator<=>(const TextPlace&, const TextPlace&) = default;
};

/// What a fault is about.
struct Origin {
  /// JSON pointer (RFC 6901); for other formats a path of the same form. Empty: the whole.
  std::string pointer = {};
  /// Empty for what stands in no text: an option, a file that cannot be read, a program that was
  /// built in memory.
  std::optional<TextPlace> at = {};
  /// Which of several readings of the place it is, with a space before: " (in l[3])"; else empty.
  std::string note = {};
  friend bool operator==(const Origin&, const Origin&) = default;
};

/// Finds the line and column of a byte of a text.
class TextLines {
 public:
  explicit TextLines(std::string_view text);
  TextPlace at(size_t offset) const;

 private:
  std::vector<size_t> begins_;  // of each line
};

/// One fault: `message` says what was expected and what was got.
struct Diagnostic {
  Origin origin;
  std::string message;
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

/// The user's input is wrong. what() has a line for each fault, as
/// "ring8.json:12:20: /links/3/bandwidth: expected a rate such as "50 GB/s", got "50G"", and those
/// that have no place in a text as "ring8.json: cannot be read".
/// Thrown by loaders and by run(), caught once in main, which exits with 2.
class InputError : public std::runtime_error {
 public:
  InputError(std::string_view file, std::vector<Diagnostic> faults);
  const std::vector<Diagnostic>& faults() const { return faults_; }

 private:
  std::vector<Diagnostic> faults_;
};

/// Collects the faults of one file.
class Diagnostics {
 public:
  /// Beyond these nobody reads on, and a file of nothing but faults must not cost more than others.
  static constexpr size_t kMost = 200;

  explicit Diagnostics(std::string file) : file_(std::move(file)) {}

  /// Throws InputError, as throw_if_any does, at the fault that is the kMost-th.
  void add(Origin origin, std::string message);
  /// A fault of the file as a whole.
  void add(std::string message) { add(Origin{}, std::move(message)); }

  /// `origin` with the note of now, for faults that are found later.
  Origin noted(Origin origin) const;

  /// While it lives, what is added ends in `text`: which of several readings of one place it is of.
  class Note {
   public:
    Note(Diagnostics& faults, std::string text)
        : faults_(faults), outer_(std::exchange(faults.note_, std::move(text))) {}
    ~Note() { faults_.note_ = std::move(outer_); }
    Note(const Note&) = delete;
    Note& operator=(const Note&) = delete;

   private:
    Diagnostics& faults_;
    std::string outer_;
  };

  bool empty() const { return faults_.empty(); }
  size_t size() const { return faults_.size(); }
  const std::string& file() const { return file_; }

  /// Throws InputError with all faults, each once, in the order of their places in the file, unless
  /// there are none.
  void throw_if_any() const;

 private:
  std::string file_;
  std::vector<Diagnostic> faults_;
  std::string note_;
};

/// The candidate nearest to `word` in spelling, when near enough to be a slip (at most two edits,
/// and fewer than half of the word's letters); else empty. Ties go to the earlier candidate. An
/// edit is a letter added, left out or replaced, or two neighbours swapped. Where there are
/// thousands of candidates none is looked for.
std::string_view near_miss(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace orrery
