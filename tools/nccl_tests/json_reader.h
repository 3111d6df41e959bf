#pragma once

// Reads the JSON that nccl-tests writes with -J (its file version 3 and before), and JSON with
// published tables: {"measured": [{"collective", "nranks", "columns", "rows", ..}, ..]}.

#include <string_view>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/scenario/size_limits.h"
#include "tools/nccl_tests/draft.h"

namespace orrery {

/// Reads the tables. The keys tell which of the two forms it is. Keys that say nothing about a
/// table are not read. Adds an error for each value that is not what its key asks for.
///
/// "columns" has size_B, and for oop_ (out of place), ip_ (in place) or both time_us, and
/// algbw_GBps and busbw_GBps if they are known. "rows" are lists of as many numbers.
std::vector<NcclDraft> read_json_tables(std::string_view text, Diagnostics& diagnostics,
                                        const Limits& limits);

}  // namespace orrery
