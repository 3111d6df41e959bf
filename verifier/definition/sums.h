#pragma once

// This file finds the float sums behind a value. Two computations of the same value, as on many
// devices and on one, can split its sum into parts of different lengths. Their results can differ,
// since each sum rounds in its own order. But sums of numbers of few bits are exact in any order.
// So values may be equal that would differ on other data.

#include <set>
#include <span>
#include <string>

#include "models/program/program.h"
#include "simulator/values/values.h"

namespace orrery {

/// Returns the number of terms in each element of the op's result, for a collective in its largest
/// group. Returns 1 for ops that do not sum floats.
int64_t terms(const Program& program, const Op& op);

/// Returns the ops that a value depends on; for a collective, those of all its threads.
std::set<OpId> ops_behind(const Program& program, ValueId value);

/// Compares the sums behind two values. An op behind one value is listed if no op of its kind
/// behind the other sums so many terms. Returns the list in program order: ""o" (dot_general of 32
/// terms), "s" (psum_scatter of 8 terms)". Returns "" if there are none: then both fold the same
/// sums.
std::string different_sums(const Program& program, ValueId a, ValueId b);

/// Returns whether floats are summed behind these values, and all their terms have so few bits that
/// every sum of them is exact: small whole numbers, or small multiples of 1/16. `computed` has the
/// values of all operands.
bool sums_are_exact(const Program& program, const DeviceValues& computed,
                    std::span<const ValueId> values);

}  // namespace orrery
