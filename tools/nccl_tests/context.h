#pragma once

// What the lines around a table of nccl-tests say of it: its program, its settings, its ranks and
// versions.

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

}  // namespace orrery
