#pragma once

// The parameters of local ops as their kernels take them, for all who carry the ops out.

#include <cstddef>
#include <optional>
#include <vector>

#include "models/array/kernels.h"
#include "models/program/attributes.h"

namespace orrery {

SliceBounds slice_bounds(const Attributes& attributes);

/// A negative axis counts from the end, as in jax.lax.split.
size_t split_axis(const Attributes& attributes, const Shape& operand);

std::vector<DimensionPadding> paddings(const Attributes& attributes);

/// The "mode" of take and scatter_add.
OutOfRange out_of_range(const Attributes& attributes);
std::optional<NumberOrPair> fill_value(const Attributes& attributes);

/// The most cases that select_n selects in one pass. More are selected in several, each of which
/// reads the operand that says the case.
inline constexpr int64_t kMostCasesInOnePass = 440;

DotDimensions dot_dimensions(const Attributes& attributes);

}  // namespace orrery
