#pragma once

// Provides texts of nccl-tests for tests.

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/base/diagnostics.h"
#include "tests/tools/cli/files.h"
#include "tools/nccl_tests/table.h"

namespace orrery::test {

inline std::string nccl_fixture(const std::string& name) {
  return text_of(std::string(ORRERY_SOURCE_ROOT) + "/tests/data/nccl_tests/" + name);
}

/// A `TableText` is a table's text. Tests change its parts.
struct TableText {
  std::string before =
      "# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 8 minBytes 8 "
      "maxBytes 1024 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 "
      "validation: 1 graph: 0\n#\n";
  std::string header =
      "#       size         count      type   redop    root     time   algbw   busbw "
      "#wrong     time   algbw   busbw #wrong\n";
  // 1 MiB in 100 us are 10.48576 GB/s; times 7/4, 18.35.
  std::vector<std::string> rows = {
      "     1048576        262144     float     sum      -1    100.0   10.49   18.35      0    "
      "100.0   10.49   18.35      0\n"};
  std::string after = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 18.35\n#\n";

  std::string text() const {
    std::string all = before + header;
    for (const std::string& row : rows)
      all += row;
    return all + after;
  }
};

/// Returns the error with which the reader refuses the text; "" if it reads the text.
inline std::string refusal_of(const std::string& text, const NcclReadOptions& options = {}) {
  try {
    read_nccl_tables(text, "t", options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace orrery::test
