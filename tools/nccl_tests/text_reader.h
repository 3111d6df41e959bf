#pragma once

// Reads the text that the programs of nccl-tests print, of all versions, with the lines that others
// print between: logs, and what mpirun or srun put before each line.
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

/// The words between spaces and tabs.
std::vector<std::string_view> words_between_spaces(std::string_view line);

/// "nThread 1 nGpus 8 minBytes 8 ..", after the "#"; empty with an error at `origin` where a number
/// is none.
std::optional<NcclSettings> read_settings(std::string_view line, const Origin& origin,
                                          Diagnostics& diagnostics);

/// "22606" is "2.26.6", as NCCL_VERSION_CODE has it; empty for 0, which says nothing.
std::optional<std::string> version_of_code(int64_t code);

class NcclContext {
 public:
  /// A comment without its "#". Unknown ones say nothing.
  void read_comment(std::string_view comment, const Origin& origin, Diagnostics& diagnostics);

  /// Any other line that is no row: NCCL prints its version in one.
  void read_log(std::string_view line);

  /// Whether this comment is one of those with which a run begins.
  static bool begins_run(std::string_view comment);

  /// A table without rows, of what was said so far.
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

/// Every table in the order of their headers ("# size count type .."). Adds an error for each row
/// that is none.
std::vector<NcclDraft> read_text_tables(std::string_view text, Diagnostics& diagnostics);

/// A line without what a launcher put before it: "[1,0]<stdout>:" (mpirun) or "0: " (srun).
struct LaunchedLine {
  std::string_view process;  // "[1,0]" or "0"; empty where there is none
  std::string_view line;
};
LaunchedLine launched_line(std::string_view line);

}  // namespace orrery
