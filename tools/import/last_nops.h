#pragma once

// Nops that no other step of their thread block follows, once those within chains of re come after
// the chain. Runtimes let the next step make a nop's wait, so they do not make these. Without a
// runtime each nop makes its own.

#include <optional>
#include <string>
#include <string_view>

#include "simulator/schedule/stored_schedule.h"
#include "tools/import/msccl.h"

namespace orrery {

/// Takes away the waits that runtimes do not make. `steps` are those of the algorithm.
void drop_last_waits(const MscclAlgorithm& algorithm, StoredSteps& steps);

/// Names the first such wait of the file, and counts the others.
std::optional<std::string> last_waits_note(const MscclAlgorithm& algorithm,
                                           std::string_view runtime);

}  // namespace orrery
