#pragma once

// Which collective a table is of, and how many ranks it had, where it does not say so itself: those
// for which every row can be true. Rows show the operation, the root, sizes beside counts, and
// busbw beside algbw, whose ratio depends on the collective and the ranks.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/base/quantity.h"
#include "tools/nccl_tests/collective.h"
#include "tools/nccl_tests/decimal.h"

namespace orrery {

/// What one row shows. Bandwidths are in bytes per second.
struct NcclEvidence {
  Bytes size;
  std::optional<int64_t> count;
  std::optional<Bytes> element;                                       // of its type
  std::optional<RedopColumn> redop;                                   // empty: not stated
  std::optional<int64_t> root;                                        // empty: not stated; -1: none
  std::vector<std::pair<PrintedDecimal, PrintedDecimal>> bandwidths;  // algbw, busbw
};

/// What is known of a table without its rows.
struct NcclKnown {
  std::optional<NcclCollective> collective;
  std::optional<uint32_t> ranks;
  uint32_t per_process = 1;  // threads times gpus; divides the ranks
};

struct NcclIdentity {
  NcclCollective collective;
  uint32_t ranks;
  bool one_process = false;  // the ranks are those of one process, as nothing shows their number
};

/// The most ranks of a table.
inline constexpr uint32_t kMostNcclRanks = 1U << 20U;

/// Why there is no answer, and the row that shows it; empty: the table as a whole.
struct NcclUnidentified {
  std::string message;
  std::optional<size_t> row = {};
};

/// Rows need not be true of alltoallv, whose parts differ. Requires per_process from 1 to
/// kMostNcclRanks, and ranks within that too.
std::variant<NcclIdentity, NcclUnidentified> identify(const NcclKnown& known,
                                                      const std::vector<NcclEvidence>& rows);

}  // namespace orrery
