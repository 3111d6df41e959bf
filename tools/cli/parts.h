#pragma once

// `orrery plan`, `verify` and `run` may be worked out in parts, by several processes, which may be
// on several machines and may be stopped at any time. This file has the folder that they write
// into.
//  1. A command has numbered units: points of a plan, blocks of a law's cases, files that are run.
//     The result of a unit depends on the command and the unit alone.
//  2. The folder has a file that says which command it is of (its setup), and a file for each unit,
//     whose name is a hash of both. A file is whole or not there: it is written under another name,
//     flushed to the disk, and then linked to its name. It is never written over.
//  3. `--part I/N` works out each N-th unit that is not there. `orrery merge` then carries out the
//     command with what is there, so it writes what one process would.
// A plan's setup and points are JSON (tools/report/plan.h), and plan_parts.cc keeps them. Those of
// `verify` and `run` are lists of texts (UnitFiles).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/cli/ci.h"
#include "tools/cli/commands.h"

namespace orrery {

/// A PartNumber is one of `of` parts of the units: part 1 has unit 0, and each `of`-th after it.
struct PartNumber {
  uint64_t part = 1;
  uint64_t of = 1;
  bool has(uint64_t unit) const { return unit % of == part - 1; }
};

/// Reads "I/N".
PartNumber part_of(const std::string& text);
/// Reads digits; nothing if the text has anything else.
std::optional<uint64_t> whole_number_in(std::string_view digits);

struct UnitsDone {
  uint64_t units = 0;       // of the part
  uint64_t were_there = 0;  // of these, before
};

/// Returns the line that a part ends with; `units` says what they are: "points".
std::string done_text(const PartNumber& part, std::string_view units, const std::string& folder,
                      const UnitsDone& done);

/// Refuses --part without a folder, and beside options that have no place there. `names` are these,
/// and `given` says whether one of them is given.
void check_beside_part(const std::optional<std::string>& output, bool given,
                       std::string_view names);
/// Refuses standard input among the paths of a part.
void check_paths(const std::vector<std::string>& paths);

/// The files that say of which command a folder is.
inline constexpr const char* kPlanFile = "plan.json";
inline constexpr const char* kCommandFile = "command";

/// The folder of parts of one command. Files are given by their names in it. It refuses
/// whatever cannot be read or written.
class PartsFolder {
 public:
  /// `command` is "plan", "verify" or "run".
  PartsFolder(std::string path, std::string command, std::string setup_file)
      : path_(std::move(path)), command_(std::move(command)), setup_file_(std::move(setup_file)) {}

  /// Makes the folder, and puts the setup there. Returns the one that another process has put
  /// there, if one has. Refuses the folder of another kind of command.
  std::optional<std::string> begin(const std::string& setup) const;
  /// Returns the text of a file; nothing if there is none.
  std::optional<std::string> text_of(const std::string& name) const;
  /// Puts the text into the file, all of it or nothing. Returns the text that another process has
  /// put there, if one has.
  std::optional<std::string> put(const std::string& name, const std::string& text) const;

  const std::string& path() const { return path_; }
  std::string path_of(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  std::string command_;
  std::string setup_file_;
};

/// A unit of a command that runs files.
struct Unit {
  std::string name;  // "a.json", "cases 50 to 99 of a.json"
  std::string text;  // the text of the file
};

/// The units of a command that runs files. The result of a unit is a list of texts, with any bytes.
class UnitFiles {
 public:
  using Texts = std::vector<std::string>;

  /// `command` has the options that all parts must share, and `inputs` is the hash of the file that
  /// one of them names.
  UnitFiles(const std::string& folder, Replay command, std::string inputs);

  /// Makes the folder. Refuses one of another command.
  void begin() const;
  /// Refuses parts with another setup, which was read from the folder.
  void check(const Texts& there) const;

  /// Returns what was added for the unit; nothing if it is not there.
  std::optional<Texts> find(const Unit& unit) const;
  /// Refuses a unit that is there with other texts.
  void add(const Unit& unit, Texts texts) const;
  /// Refuses what find() has returned.
  [[noreturn]] void refuse_damaged(const Unit& unit) const;

  const std::string& folder() const { return folder_.path(); }
  /// Returns the command of a part: "orrery run a.json b.json --part I/N -o FOLDER".
  std::string part_command() const;

 private:
  /// Returns the name with hashes of all that the unit depends on.
  std::string name_of(const Unit& unit) const;
  std::string file_of(const Unit& unit) const;

  PartsFolder folder_;
  Replay command_;
  Texts setup_;
};

/// Returns a hash of the text of the file; "" if an option names none, such as a catalog's name.
std::string input_hash(const std::optional<std::string>& file);

/// Returns the units of a command in the folder.
UnitFiles units_of(const VerifyCommand& command, const std::string& folder);
UnitFiles units_of(const RunCommand& command, const std::string& folder);

// These write what the command would, once all its units are there.

Outcome merge_plan(const MergeCommand& command, const Terminal& terminal);
Outcome merge(const VerifyCommand& command, const UnitFiles& units, const Terminal& terminal);
Outcome merge(const RunCommand& command, const UnitFiles& units, const Terminal& terminal);

}  // namespace orrery
