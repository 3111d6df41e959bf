#pragma once

// A hash of everything a run computed, independent of the executors that computed it.

#include <string>

#include "verifier/report.h"

namespace orrery {

/// 32 hexadecimal digits over, for each device by logical id and each op it issues, in order:
/// start, end and bytes; its memory at each op, its peak and arena; and its values by id, where
/// data was run. Names, checks and labels are not in it.
///
/// It has the folded form (loop.h) of loops that leave out iterations, or may. So it does not
/// depend on whether all iterations were written out. Iterations that are not shown then are in it
/// by their number and by what each op took in all of them; of values in loops it has the outputs
/// alone. The arena and the sizes held at the
/// peak are not in it, because they are known of the shown iterations only.
std::string fingerprint(const Report& report);

}  // namespace orrery
