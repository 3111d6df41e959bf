#pragma once

// Writes a table as nccl-tests prints it and as its -J does, byte for byte (NVIDIA/nccl-tests at
// a0b82b2, 2.19.6: src/util.cu). Parsers of nccl-tests' output read both.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/nccl_tests/table.h"

namespace orrery {

/// This says where a modelled table is from, which a machine's table does not say.
struct NcclOrigin {
  std::string modelled;               // a comment: "modelled on a100-sxm-8, orrery 0.1.0"
  std::vector<std::string> assumed;   // further comments
  std::optional<std::string> bound;   // a comment: how close times come to the fabric's bound
  std::optional<Bytes> reduced_most;  // the largest size, if it is not the settings'
  /// The arguments of the command, with its own name first. Only JSON has them.
  std::vector<std::string> arguments;
};

/// This is the version of nccl-tests whose format is written.
inline constexpr std::string_view kWrittenVersion = "2.19.6";

/// Returns how many placements of rows have wrong elements, which the last lines of a table state.
int64_t wrong_placements(const NcclTable& table);

/// Returns the table as text. The version of NCCL is 0, as no NCCL ran. All ranks are listed on one
/// host, which is called orrery. Each text of `origin` is a comment line. Requires settings, rows,
/// and one device name.
std::string nccl_text(const NcclTable& table, const NcclOrigin& origin);

/// Returns the table as JSON, with the same requirements. No clock is read: the run starts and ends
/// at 1970-01-01 00:00:00. The texts of `origin` are in an environment variable ORRERY.
std::string nccl_json(const NcclTable& table, const NcclOrigin& origin);

}  // namespace orrery
