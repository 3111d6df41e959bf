#pragma once

// This makes the elements that each device holds of an array before the program begins.

#include <cstdint>

#include "models/array/tensor.h"
#include "models/base/id.h"
#include "models/scenario/scenario.h"

namespace orrery {

/// Returns the part of `array` on device `id`. An element depends only on its place in the global
/// array, so devices that hold the same part hold the same bits. Iota counts in row-major order and
/// converts each count to the dtype. Random elements are drawn one by one, from the run's `seed`,
/// the array's own seed and its name, or the name that its init has. Floats are fractions of either
/// sign from 1/16 to 1, as many in each power of two. All bits of their dtype are random, so sums
/// of them round in every dtype, and overflow in none. Integers, and floats where asked for, are
/// whole numbers of -4..4 (0..8 for unsigned dtypes, -1..1 for 8-bit floats), and pred is 0 or 1.
Tensor initial_value(const Scenario& scenario, const Array& array, LogicalId id, uint64_t seed);

}  // namespace orrery
