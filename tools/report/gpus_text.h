#pragma once

// What a run on GPUs was, for people: the GPUs, the graph, and measured times beside simulated
// ones.

#include <string>

#include "tools/report/repetitions.h"
#include "tools/report/style.h"
#include "verifier/report.h"

namespace orrery {

/// Without a heading. Requires a report of a run on GPUs.
std::string gpus_text(const Report& report, const FoldedEntries& folded, const Style& style);

}  // namespace orrery
