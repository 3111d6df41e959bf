#pragma once

// Checks, types and costs that the rules of several families share.

#include <optional>
#include <string_view>

#include "models/program/rules.h"
#include "models/program/states.h"

namespace orrery {

/// A result of this dtype and shape and of these states; the error of the states if they have one.
TypeOutcome typed(Dtype dtype, Shape shape, StatesOutcome states);

/// The error in `dimension`, given as `parameter`, of an operand of this rank: from 0 on.
std::optional<TypeError> dimension_error(std::string_view parameter, int64_t dimension,
                                         size_t rank);

/// The error in `dtype`, that of an operand given as `parameter`, where elements must have an
/// order: complex numbers have none.
std::optional<TypeError> unordered_error(std::string_view parameter, Dtype dtype);

/// The error in `value`, given as `parameter`, as an element of the dtype.
std::optional<TypeError> number_error(std::string_view parameter, Dtype dtype,
                                      const NumberOrPair& value);

/// The parameter "scratch": the bytes that an op needs beside operands and results while it runs.
/// GPU libraries call it their workspace.
Parameter scratch_parameter();

/// Nothing runs: the results are the operands' storage.
Cost renaming_cost(const Attributes& attributes, std::span<const ValueType> operands,
                   std::span<const ValueType> results);

/// Sizes of operands and results together.
Bytes touched(std::span<const ValueType> operands, std::span<const ValueType> results);

}  // namespace orrery
