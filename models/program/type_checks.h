#pragma once

// The rules of several families share these checks, types and costs.

#include <optional>
#include <string_view>

#include "models/program/rules.h"
#include "models/program/states.h"

namespace orrery {

/// Returns a result of this dtype, shape and states, or the error of the states if they have one.
TypeOutcome typed(Dtype dtype, Shape shape, StatesOutcome states);

/// Returns the error in `dimension`, given as `parameter`. It must be from 0 to rank - 1.
std::optional<TypeError> dimension_error(std::string_view parameter, int64_t dimension,
                                         size_t rank);

/// Returns the error in the `dtype` of an operand given as `parameter`, if its elements must have
/// an order. Complex numbers have none.
std::optional<TypeError> unordered_error(std::string_view parameter, Dtype dtype);

/// Returns the error in `value`, given as `parameter`, as an element of the dtype.
std::optional<TypeError> number_error(std::string_view parameter, Dtype dtype,
                                      const NumberOrPair& value);

/// Returns the parameter "scratch": the bytes that an op needs beside operands and results while it
/// runs. GPU libraries call it their workspace.
Parameter scratch_parameter();

/// Returns the cost of an op that does not run, since its results are in the operands' storage.
Cost renaming_cost(const Attributes& attributes, std::span<const ValueType> operands,
                   std::span<const ValueType> results);

/// Returns the sum of the sizes of operands and results.
Bytes touched(std::span<const ValueType> operands, std::span<const ValueType> results);

}  // namespace orrery
