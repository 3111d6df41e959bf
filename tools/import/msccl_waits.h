#pragma once

// Which step ends each wait of an MSCCL algorithm. In the interpreter a thread block has one flag:
// the number of its last transfer with hasdep="1" (msccl_transfers.h). A wait for a step ends once
// the flag has the step's number or a later one.

#include <vector>

#include "tools/import/msccl.h"
#include "tools/import/msccl_messages.h"

namespace orrery {

/// Sets Step::after of each step that waits for another thread block; a nop makes its own wait. A
/// wait that no step ends is added to the algorithm's hangs. Adds errors for steps that do not
/// exist. The runtimes' parsers refuse waits of nops before a step that has none.
void resolve_waits(MscclAlgorithm& algorithm, const std::vector<std::vector<ThreadBlock>>& blocks);

}  // namespace orrery
