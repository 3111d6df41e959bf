#pragma once

// This check finds whether threads agree on the order of the collectives that they share.

#include "models/program/program.h"
#include "simulator/schedule/lowered.h"
#include "verifier/verdict.h"

namespace orrery {

/// Checks that any two threads issue the collectives that they share on one stream in the same
/// order (ORDER.AGREED). The time is linear in the members of sites if all threads agree.
Check order_agreed(const Program& program, const Lowered& lowered);

}  // namespace orrery
