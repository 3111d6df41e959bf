#pragma once

// Whether threads agree on the order of the collectives that they share.

#include "models/program/program.h"
#include "simulator/schedule/lowered.h"
#include "verifier/verdict.h"

namespace orrery {

/// Any two threads issue the collectives that they share on one stream in the same order
/// (ORDER.AGREED). Linear in the members of sites if all threads agree.
Check order_agreed(const Program& program, const Lowered& lowered);

}  // namespace orrery
