#pragma once

// These functions give the parameters of local ops in the form that kernels take.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/array/kernels.h"
#include "models/program/attributes.h"
#include "models/program/rules.h"

namespace orrery {

SliceBounds slice_bounds(const Attributes& attributes);

/// Returns the axis of a split. A negative axis counts from the end, as in jax.lax.split.
size_t split_axis(const Attributes& attributes, const Shape& operand);

std::vector<DimensionPadding> paddings(const Attributes& attributes);

SequenceOrder sequence_order(const Attributes& attributes);

/// Returns the "mode" of take and scatter_add.
OutOfRange out_of_range(const Attributes& attributes);
std::optional<NumberOrPair> fill_value(const Attributes& attributes);

/// select_n selects at most this many cases in one pass. More cases need several passes, each of
/// which reads the operand that says the case.
inline constexpr int64_t kMostCasesInOnePass = 440;

DotDimensions dot_dimensions(const Attributes& attributes);

/// Returns what one kernel is charged for that goes forward or, as Pass::Backward, that gives the
/// gradients. Its bytes are those of a forward pass. May throw Overflow.
Cost attention_cost(const AttentionSizes& sizes, Dtype dtype, Pass pass);

}  // namespace orrery
