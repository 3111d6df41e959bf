#pragma once

// Which sums of floats lie behind a value. Two computations of one thing can differ where they sum
// it up in parts of other lengths, as on many devices and on one: each sum rounds in its own order.

#include <string>

#include "models/program/program.h"

namespace orrery {

/// The ops behind one of two values that make sums of a length that no op of that kind behind the
/// other makes, in program order: ""o" (dot_general of 32 terms), "s" (psum_scatter of 8 terms)".
/// Empty where there are none: then both fold the same sums.
std::string different_sums(const Program& program, ValueId a, ValueId b);

}  // namespace orrery
