#pragma once

// A draft is a table while it is read, from any of its forms. This file says how a draft is
// completed.
//
// A draft has figures with the digits that were printed, and the facts that were stated about the
// whole table. Many tables do not name their collective or their number of ranks. identify() infers
// both: it takes those for which every row can be true. Rows show the operation, the root, sizes
// beside counts, and busbw beside algbw, whose ratio depends on the collective and the ranks. Where
// several collectives print such rows, #wrong decides, and then what is said beside the table.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/base/quantity.h"
#include "models/scenario/size_limits.h"
#include "tools/nccl_tests/collective.h"
#include "tools/nccl_tests/decimal.h"
#include "tools/nccl_tests/table.h"

namespace orrery {

/// The facts that one row shows. Bandwidths are in bytes per second.
struct NcclEvidence {
  Bytes size;
  std::optional<int64_t> count;
  std::optional<Bytes> element;                                       // the size of its type
  std::optional<RedopColumn> redop;                                   // empty: not stated
  std::optional<int64_t> root;                                        // empty: not stated; -1: none
  std::vector<std::pair<PrintedDecimal, PrintedDecimal>> bandwidths;  // algbw, busbw
  /// Whether the result in place was compared. It is empty if nothing was, or nothing in place.
  std::optional<bool> checked_in_place = {};
};

/// A hint names a collective beside the table, in a place that may be about something else.
struct NcclHint {
  NcclCollective collective;
  std::string where;  // "the file's name has it"
};

/// The facts about a table that are known without its rows.
struct NcclKnown {
  std::optional<NcclCollective> collective;
  std::optional<uint32_t> ranks;
  uint32_t per_process = 1;          // threads times gpus, which divides the ranks
  std::vector<NcclHint> hints = {};  // the most credible first
};

struct NcclIdentity {
  NcclCollective collective;
  uint32_t ranks;
  bool one_process = false;  // whether one process was assumed, as nothing shows the ranks
  std::string because = {};  // why this collective, where the rows fit several
};

/// A table has at most this many ranks.
inline constexpr uint32_t kMostNcclRanks = 1U << 20U;

/// The reason why there is no answer, and the row that shows it. There is no row if the table as a
/// whole shows it.
struct NcclUnidentified {
  std::string message;
  std::optional<size_t> row = {};
};

/// Infers the collective and the ranks. If the rows fit several collectives, it takes those that
/// are checked in place as the rows are, then the first hint that is among them. alltoallv is only
/// taken if something names it. Rows of alltoallv are not compared with their counts, as its parts
/// differ in size. Requires that per_process and the ranks are from 1 to kMostNcclRanks.
std::variant<NcclIdentity, NcclUnidentified> identify(const NcclKnown& known,
                                                      const std::vector<NcclEvidence>& rows);

/// These numbers of decimals are kept: times in us to the picosecond, bandwidths in GB/s to the
/// B/s.
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
  bool without_redop = false;        // whether the table lacks the column, as in old versions
  std::optional<int64_t> root;       // empty: not stated; -1: none
  std::optional<PrintedFigures> out_of_place;
  std::optional<PrintedFigures> in_place;
};

struct NcclDraft {
  Origin origin;
  NcclTable table;                    // without rows, collective and ranks
  std::vector<NcclCollective> named;  // all collectives that were named for it
  std::vector<uint32_t> ranks;        // all numbers of ranks that were stated
  std::vector<NcclHint> hints;        // the most credible first
  bool times_are_cpu_times = false;
  std::vector<PrintedRow> rows;
};

/// A table has at most this many rows. require_room() throws InputError if it has that many
/// already.
inline constexpr size_t kMostNcclRows = size_t{1} << 18U;
void require_room(size_t rows, const Origin& origin, Diagnostics& diagnostics);

/// Identifies and checks a draft and makes it a table. The result is empty, with an error, if the
/// draft states two collectives or numbers of ranks, if its rows contradict them, or if they cannot
/// be told.
std::optional<NcclTable> completed(NcclDraft draft, Diagnostics& diagnostics);

/// Reads the JSON that nccl-tests writes with -J (its file version 3 and before), or JSON with
/// published tables: {"measured": [{"collective", "nranks", "columns", "rows", ..}, ..]}. The keys
/// tell which of the two forms it is. Keys that say nothing about a table are not read. Adds an
/// error for each value that is not what its key asks for.
///
/// "columns" has size_B, and for oop_ (out of place), ip_ (in place) or both time_us, and
/// algbw_GBps and busbw_GBps if they are known. "rows" are lists of as many numbers.
std::vector<NcclDraft> read_json_tables(std::string_view text, Diagnostics& diagnostics,
                                        const Limits& limits);

}  // namespace orrery
