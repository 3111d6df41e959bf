#include <utility>

#include <fmt/format.h>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/program/families.h"

namespace orrery {

TypeOutcome typed(Dtype dtype, Shape shape, StatesOutcome states) {
  if (auto* error = std::get_if<TypeError>(&states))
    return std::move(*error);
  return std::vector<ValueType>{
      {dtype, std::move(shape), std::get<AxisStates>(std::move(states)), false}};
}

std::optional<TypeError> dimension_error(std::string_view parameter, int64_t dimension,
                                         size_t rank) {
  if (rank == 0)
    return TypeError{std::string(parameter), "expected an operand with dimensions, got a scalar"};
  if (dimension < 0 || dimension >= static_cast<int64_t>(rank))
    return TypeError{std::string(parameter),
                     fmt::format("expected a dimension from 0 to {}, got {}", rank - 1, dimension)};
  return std::nullopt;
}

std::optional<TypeError> unordered_error(std::string_view parameter, Dtype dtype) {
  if (!is_complex(dtype))
    return std::nullopt;
  return TypeError{
      std::string(parameter),
      fmt::format("expected elements that have an order, got {}; complex numbers have none",
                  name(dtype))};
}

std::optional<TypeError> number_error(std::string_view parameter, Dtype dtype,
                                      const NumberOrPair& value) {
  if (has_number(dtype, value))
    return std::nullopt;
  return TypeError{
      std::string(parameter),
      fmt::format("expected a value of {}, got {}", name(dtype),
                  element_text(full(value.im ? Dtype::C128 : Dtype::F64, Shape(), value), 0))};
}

Parameter scratch_parameter() {
  return {"scratch", ParameterKind::ByteCount, Parameter::Need::Optional, {}, 0, {}, {}};
}

Cost renaming_cost(const Attributes&, std::span<const ValueType> operands,
                   std::span<const ValueType>) {
  return {Flops(0), Bytes(0), operands[0].dtype, false};
}

Bytes touched(std::span<const ValueType> operands, std::span<const ValueType> results) {
  Bytes sum;
  for (const ValueType& operand : operands)
    sum += operand.size();
  for (const ValueType& result : results)
    sum += result.size();
  return sum;
}

}  // namespace orrery
