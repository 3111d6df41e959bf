#pragma once

// A fingerprint hashes all results of a run. It does not depend on which executors computed them.

#include <string>

#include "verifier/report.h"

namespace orrery {

/// Returns 32 hexadecimal digits. For each device by logical id, they cover:
///  - each op that it issues, in order: start, end and bytes;
///  - its memory at each op, its peak and its arena;
///  - its values by id, where data was run.
/// Names, checks and labels are not in it.
///
/// Loops that leave out iterations, or may, are hashed in the shortened form (loops.h). So the hash
/// does not depend on whether all iterations were written out. Each op then adds the number of its
/// hidden iterations and their total time. Only the outputs among the values in loops are hashed.
/// The arena and the sizes held at the peak are left out, because they are known for the shown
/// iterations only.
std::string fingerprint(const Report& report);

}  // namespace orrery
