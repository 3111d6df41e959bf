#pragma once

// Writes a table as nccl-tests prints it and as its -J does, byte for byte (NVIDIA/nccl-tests at
// a0b82b2, 2.19.6: src/util.cu). Its parsers read both.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/nccl_tests/table.h"

namespace orrery {

/// What a model prints that a machine does not.
struct NcclOrigin {
  std::string modelled;               // "modelled on a100-sxm-8, orrery 0.1.0": a comment
  std::vector<std::string> assumed;   // each a comment after that
  std::optional<Bytes> reduced_most;  // the largest size, where that is not the settings'
  /// The argument list, with the program's name first; of JSON.
  std::vector<std::string> arguments;
};

/// The version of nccl-tests whose format this is.
inline constexpr std::string_view kWrittenVersion = "2.19.6";

/// How many placements of rows have wrong elements, as the last lines say.
int64_t wrong_placements(const NcclTable& table);

/// Requires settings, rows, and one device name. The version of NCCL is 0, as no NCCL ran. All
/// ranks are listed, on one host, which is called orrery. A comment line for each text of `origin`.
std::string nccl_text(const NcclTable& table, const NcclOrigin& origin);

/// Requires the same. No clock is read: it starts and ends at 1970-01-01 00:00:00. What `origin`
/// says is an environment variable ORRERY.
std::string nccl_json(const NcclTable& table, const NcclOrigin& origin);

}  // namespace orrery
