#pragma once

// Reads files of nccl-tests' results: its text, its JSON (-J), and JSON with published tables.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/scenario/size_limits.h"
#include "tools/nccl_tests/table.h"

namespace orrery {

/// Facts about a file that it does not state itself.
struct NcclReadOptions {
  std::optional<NcclCollective> collective;
  std::optional<uint32_t> ranks;  // from 1 to kMostNcclRanks
  Limits limits;
};

/// Returns the file's tables in their order, at least one. Text that begins with "{" is JSON.
/// UTF-16 after its byte order mark is read too, and codes for colours are left out. Throws
/// InputError with every error of the file: wrong rows, a table without rows, one that contradicts
/// itself or the options, and one whose collective or ranks neither it nor the options tell.
std::vector<NcclTable> read_nccl_tables(std::string_view text, const std::string& file,
                                        const NcclReadOptions& options = {});

}  // namespace orrery
