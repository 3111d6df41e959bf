#pragma once

// A hash of everything a run computed, independent of the executors that computed it.

#include <string>

#include "verifier/report.h"

namespace orrery {

/// 32 hexadecimal digits over, for each device by logical id and each op it issues, in order:
/// start, end and bytes; its memory at each op, its peak and arena; and its values by id, where
/// data was run. Names, checks and labels are not in it.
std::string fingerprint(const Report& report);

}  // namespace orrery
