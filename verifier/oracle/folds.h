#pragma once

// The float sums behind a value. Two computations of the same value can differ if they split its
// sum into parts of different lengths, as on many devices and on one: each sum rounds in its own
// order.

#include <set>
#include <string>

#include "models/program/program.h"

namespace orrery {

/// The number of terms in each element of the op's result, of a collective in its largest group; 1
/// for ops that do not sum floats.
int64_t terms(const Program& program, const Op& op);

/// The ops that a value depends on; for a collective, those of all its threads.
std::set<OpId> ops_behind(const Program& program, ValueId value);

/// The ops behind one of two values whose sums have a length that no op of that kind behind the
/// other has, in program order: ""o" (dot_general of 32 terms), "s" (psum_scatter of 8 terms)".
/// Empty if there are none: then both fold the same sums.
std::string different_sums(const Program& program, ValueId a, ValueId b);

}  // namespace orrery
