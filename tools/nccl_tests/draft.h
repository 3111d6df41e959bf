#pragma once

// A table while it is read, from any of its forms: figures with the digits that were printed, and
// what was said of the whole. Once complete it is identified, checked and made a table.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/diagnostics.h"
#include "tools/nccl_tests/decimal.h"
#include "tools/nccl_tests/identify.h"
#include "tools/nccl_tests/table.h"

namespace orrery {

/// Units of what tables print: times in us, to the picosecond; bandwidths in GB/s, to the B/s.
inline constexpr int kTimeDecimals = 6;
inline constexpr int kBandwidthDecimals = 9;

struct PrintedFigures {
  PrintedDecimal time;
  std::optional<PrintedDecimal> algbw;
  std::optional<PrintedDecimal> busbw;
  std::optional<int64_t> wrong;
};

struct PrintedRow {
  Origin origin;
  Bytes size;
  std::optional<int64_t> count;
  std::string type;
  std::optional<std::string> redop;  // empty: not stated
  bool without_redop = false;        // the table has no such column, as in old versions
  std::optional<int64_t> root;       // empty: not stated; -1: none
  std::optional<PrintedFigures> out_of_place;
  std::optional<PrintedFigures> in_place;
};

struct NcclDraft {
  Origin origin;
  NcclTable table;                    // without rows, collective and ranks
  std::vector<NcclCollective> named;  // each that was named for it
  std::vector<uint32_t> ranks;        // each number of ranks that was stated
  bool times_are_cpu_times = false;
  std::vector<PrintedRow> rows;
};

/// The most rows of a table; throws InputError where there are `rows` already.
inline constexpr size_t kMostNcclRows = size_t{1} << 18U;
void require_room(size_t rows, const Origin& origin, Diagnostics& diagnostics);

/// Adds to `diagnostics` what the draft says twice and differently, what its rows contradict, or
/// that its collective or its ranks cannot be told; the result is empty then.
std::optional<NcclTable> completed(NcclDraft draft, Diagnostics& diagnostics);

}  // namespace orrery
