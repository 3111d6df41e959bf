#pragma once

// Reads files of nccl-tests' results: its text, its JSON (-J), and JSON with published tables.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/scenario/size_limits.h"
#include "models/scenario/size_limits.h"
#include "tools/nccl_tests/table.h"

namespace orrery {

/// What a file does not say itself.
struct NcclReadOptions {
  std::optional<NcclCollective> collective;
  std::optional<uint32_t> ranks;  // from 1 to kMostNcclRanks
  Limits limits;
};

/// The file's tables, at least one, in its order. Text that begins with "{" is JSON. Throws
/// InputError with every error of the file: of a row, where a table has none, contradicts itself or
/// the options, or does not tell its collective or its ranks and the options do not either.
std::vector<NcclTable> read_nccl_tables(std::string_view text, const std::string& file,
                                        const NcclReadOptions& options = {});

}  // namespace orrery
