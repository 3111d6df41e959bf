#pragma once

// Reads the JSON that nccl-tests writes with -J (its file version 3 and before), and JSON with
// published tables: {"measured": [{"collective", "nranks", "columns", "rows", ..}, ..]}.

#include <string_view>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/scenario/size_limits.h"
#include "models/scenario/size_limits.h"
#include "tools/nccl_tests/draft.h"

namespace orrery {

/// Which of the two it is, its keys tell; keys that say nothing of a table are not read. Adds an
/// error for each value that is not what its key asks for.
///
/// "columns" are size_B, and of oop_ and ip_ (out of place, in place) time_us, algbw_GBps and
/// busbw_GBps, of which the bandwidths may be absent; "rows" are lists of as many numbers.
std::vector<NcclDraft> read_json_tables(std::string_view text, Diagnostics& diagnostics,
                                        const Limits& limits);

}  // namespace orrery
