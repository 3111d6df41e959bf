#pragma once

// Tells systems of continuous integration what does not hold: --junit FILE and --annotate github.

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/callable.h"
#include "models/base/diagnostics.h"
#include "models/scenario/scenario.h"
#include "models/scenario/size_limits.h"
#include "tools/report/junit.h"
#include "verifier/verdict.h"

namespace orrery {

/// Says whose workflow commands are printed.
enum class Annotations : uint8_t { None, Github };

/// Says whether a report that is undecided counts as one that fails.
enum class OnUndecided : uint8_t { Fail, Allow };

struct CiOptions {
  std::optional<std::string> junit;  // a file
  Annotations annotations = Annotations::None;
};

/// A command that a user may give to a shell, word by word: mostly one that repeats a result.
class Replay {
 public:
  explicit Replay(std::vector<std::string> words) : words_(std::move(words)) {}
  /// Begins with the words and a file.
  Replay(std::vector<std::string> words, const std::string& file);

  /// Adds a file. "-" is stdin.
  void file(const std::string& name);
  /// Adds an option with its value, or nothing if there is no value.
  void option(const char* name, const std::optional<std::string>& value);
  void option(const char* name, const std::optional<uint32_t>& value);
  void options(const char* name, const std::vector<std::string>& values);
  void flag(const char* name) { words_.emplace_back(name); }
  /// Adds the limits that are not the usual ones.
  void limits(const Limits& limits);

  /// Returns the command on one line, for POSIX shells. Control characters are written as in
  /// $'a\nb', which bash, zsh and ksh know.
  std::string text() const;
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::vector<std::string> words_;
};

/// Says what a result is of. A built-in law is no file of the user's, so annotations of it name
/// none: its id begins their title.
enum class Of : uint8_t { File, BuiltinLaw };

/// Returns whether the error is one of this file, and not of an option or of another file.
bool is_of(const InputError& error, const std::string& file);

/// Returns where in its file an op or an expectation stands, by the subject of a check about it.
std::map<std::string, TextPosition> places_of(const Scenario& scenario);

/// Collects the results of a command's files.
class CiResults {
 public:
  explicit CiResults(const CiOptions& options) : options_(options) {}

  /// Adds the checks of a file. `replay` is the command that repeats them. `where` says where in
  /// the file a check stands that does not hold; it is nothing where that is not known.
  void add(const std::string& file, const std::vector<Check>& checks, const std::string& replay,
           OnUndecided undecided,
           FunctionRef<std::optional<TextPosition>(const Check& check)> where);
  /// Adds a law: a test case of that name, with the check of a case that does not hold. `file` is
  /// the id of a built-in law.
  void add_law(const std::string& file, Of of, const std::string& law,
               const std::optional<Check>& check, const std::string& replay, OnUndecided undecided,
               FunctionRef<std::optional<TextPosition>(const Check& check)> where);
  /// Adds a file or a law that is wrong.
  void add(const std::string& file, const InputError& error, const std::string& replay,
           Of of = Of::File);
  /// Adds an error of an option, or of a file that an option names (one of `files`). It is in no
  /// JUnit file, since that has the results of the command's own files.
  void add(const InputError& error, const std::vector<std::optional<std::string>>& files);

  /// Writes the JUnit file, if one was asked for. Throws InputError if it cannot be written.
  void write_junit() const;
  /// Writes the annotations, one a line: "::error file=F,line=L,col=C,title=CHECK::MESSAGE". A part
  /// that is not known is left out. An undecided check that is allowed is a warning.
  void write_annotations(std::ostream& out) const;

 private:
  void annotate(const char* level, const std::string& file, Of of,
                const std::optional<TextPosition>& at, const std::string& title,
                const std::string& message);
  void annotate(const std::string& file, Of of, const InputError& error);
  void annotate(const std::string& file, Of of, const std::vector<Check>& checks,
                OnUndecided undecided,
                FunctionRef<std::optional<TextPosition>(const Check& check)> where);
  void add_suite(const std::string& file, const std::vector<Check>& checks,
                 const std::string& replay, OnUndecided undecided,
                 const std::string* law = nullptr);

  const CiOptions& options_;
  std::vector<JunitSuite> suites_;
  std::string annotations_;
};

}  // namespace orrery
