#pragma once

// Reads the text that the programs of nccl-tests print, of all versions. Others print lines
// between: logs, and what mpirun or srun put before each line.
//
// NcclContext reads the lines around a table (its program, settings, ranks and versions);
// read_text_tables() reads headers and rows, and takes a draft from the context at each header.

#include <cstdint>
#include <optional>
#include <set>
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

  /// Reads any other line that is not a row. NCCL prints its version in one.
  void read_log(std::string_view line);

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

/// This is a line without the text that a launcher put before it: "[1,0]<stdout>:" (mpirun) or "0:
/// " (srun).
struct LaunchedLine {
  std::string_view process;  // "[1,0]" or "0"; empty without a launcher
  std::string_view line;
};
LaunchedLine launched_line(std::string_view line);

}  // namespace orrery
