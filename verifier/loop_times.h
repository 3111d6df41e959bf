#pragma once

// The times of loops that leave out iterations, where messages share links. The event engine needs
// every iteration, so the loops are written out: first with fewer iterations, to see whether they
// repeat; with all of them if they do not. Loops of local ops alone are not run (local_loops.h).

#include <optional>
#include <string>

#include "models/base/diagnostics.h"
#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "simulator/time/completion.h"
#include "verifier/local_loops.h"
#include "verifier/stages.h"

namespace orrery {

/// The times of the program of `local_loops`, which ends and has routes. `because` says why the
/// sweep does not time it. Empty with an error in `diagnostics` if the iterations do not
/// repeat, and all of them exceed the limits.
std::optional<Completion> time_loops_by_engine(const LocalLoops& local_loops,
                                               const Cluster& cluster, const StageOptions& options,
                                               const std::string& because,
                                               Diagnostics& diagnostics);

}  // namespace orrery
