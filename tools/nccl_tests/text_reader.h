#pragma once

// Reads the text that the programs of nccl-tests print, of all versions. Others print lines
// between: logs, and what mpirun or srun put before each line.
//
// NcclContext reads the lines around a table (its program, settings, ranks and versions);
// read_text_tables() reads headers and rows, and takes a draft from the context at each header.

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/diagnostics.h"
#include "tools/nccl_tests/draft.h"
#include "tools/nccl_tests/table.h"

namespace orrery {

/// Returns the parts of a line between spaces and tabs.
std::vector<std::string_view> words_between_spaces(std::string_view line);

/// Reads "nThread 1 nGpus 8 minBytes 8 ..", which follows the "#". The result is empty, with an
/// error at `origin`, if a number is not one.
std::optional<NcclSettings> read_settings(std::string_view line, const Origin& origin,
                                          Diagnostics& diagnostics);

/// Returns the version of a NCCL_VERSION_CODE: 22606 is "2.26.6". The result is empty for 0, which
/// says nothing.
std::optional<std::string> version_of_code(int64_t code);

/// Reads the lines around a table, which tell its program, settings, ranks and versions.
class NcclContext {
 public:
  /// Reads a comment without its "#". Unknown comments say nothing.
  void read_comment(std::string_view comment, const Origin& origin, Diagnostics& diagnostics);

  /// Reads any other line that is not a row. NCCL prints its version in one. Returns whether the
  /// line says anything about the table.
  bool read_log(std::string_view line);

  /// Returns whether the words begin a line that nccl-tests prints behind a "#". Such a line is
  /// also known where the "#" was lost.
  static bool is_comment(std::span<const std::string_view> words);

  /// Returns whether a run begins with this comment.
  static bool begins_run(std::string_view comment);

  /// Returns a table without rows, with the facts that were stated so far.
  NcclDraft draft(const Origin& origin) const;

 private:
  struct RankLine {
    int64_t rank;
    int64_t group;
    std::string host;
    std::string device;
  };
  static std::optional<RankLine> read_rank(const std::vector<std::string_view>& words,
                                           std::string_view line);
  void read_versions(const std::vector<std::string_view>& words);

  std::vector<NcclCollective> named_;
  std::optional<NcclSettings> settings_;
  std::optional<std::string> nccl_version_;
  std::optional<std::string> nccl_tests_version_;
  std::vector<RankLine> ranks_;
  bool ranks_cut_ = false;  // nccl-tests prints at most 2 KiB of them per process
};

/// Returns all tables in the order of their headers ("# size count type .."). Adds an error for
/// each line that should be a row and is not.
std::vector<NcclDraft> read_text_tables(std::string_view text, Diagnostics& diagnostics);

/// Returns whether the word looks like a number of a table: "-1", "12.5", "1e+07".
bool is_number(std::string_view word);
/// Returns whether the words begin the header of a table: "size count type ..".
bool is_nccl_header(std::span<const std::string_view> words);
/// Returns whether the words are a row of a table. Any other line is a log.
bool is_nccl_row(std::span<const std::string_view> words);

/// This is a line without the text that a launcher or a log put before it.
struct LoggedLine {
  std::string process;    // the part of that text that tells processes apart; it may be empty
  std::string_view line;  // the rest
};

/// Returns the line without "[1,0]<stdout>:" (mpirun) or "0: " (srun), which is the process.
LoggedLine launched_line(std::string_view line);

/// Takes away what logs put before lines: clocks (`kubectl logs --timestamps`), names of containers
/// and hosts. The text before a comment of nccl-tests, such as the header, shows how many words it
/// has. The rows have as many. Words with a clock differ from line to line; the others are the
/// process.
class LogPrefixes {
 public:
  LoggedLine split(std::string_view line);

 private:
  std::set<std::pair<size_t, std::string>> known_;  // the number of words, and the process
};

}  // namespace orrery
