// This file has dot_general as in jax.lax, which sums products over contracting dimensions, with
// shared batch dimensions. The order of summation is in models/array/kernels.h.

#include <algorithm>

#include <fmt/format.h>

#include "models/array/kernels.h"
#include "models/program/families.h"
#include "models/program/local_parameters.h"

namespace orrery {

namespace {

using Need = Parameter::Need;

TypeError error(std::string message) {
  return {"dimension_numbers", std::move(message)};
}

/// Returns the error in the dimensions of one side. Each must exist, and occur at most once.
std::optional<TypeError> side_error(std::string_view side, const Shape& shape,
                                    const std::vector<int64_t>& contracting,
                                    const std::vector<int64_t>& batch) {
  std::vector<bool> used(shape.rank(), false);
  for (const auto* dimensions : {&contracting, &batch}) {
    for (const int64_t d : *dimensions) {
      if (d < 0 || d >= static_cast<int64_t>(shape.rank()))
        return error(
            fmt::format("expected dimensions of the {} operand {}, got {}", side, shape.text(), d));
      if (used[static_cast<size_t>(d)])
        return error(
            fmt::format("expected each dimension of the {} operand once, got {} twice", side, d));
      used[static_cast<size_t>(d)] = true;
    }
  }
  return std::nullopt;
}

std::optional<TypeError> pairs_error(std::string_view what, const Shape& lhs, const Shape& rhs,
                                     const std::vector<int64_t>& left,
                                     const std::vector<int64_t>& right) {
  if (left.size() != right.size())
    return error(fmt::format("expected as many {} dimensions on both sides, got {} and {}", what,
                             left.size(), right.size()));
  for (size_t i = 0; i < left.size(); ++i) {
    const int64_t l = lhs[static_cast<size_t>(left[i])];
    const int64_t r = rhs[static_cast<size_t>(right[i])];
    if (l != r)
      return error(
          fmt::format("expected {} dimensions of one extent, got {} (dimension {} of {}) "
                      "and {} (dimension {} of {})",
                      what, l, left[i], lhs.text(), r, right[i], rhs.text()));
  }
  return std::nullopt;
}

void append_free(std::vector<int64_t>& dims, const Shape& shape,
                 const std::vector<int64_t>& contracting, const std::vector<int64_t>& batch) {
  for (size_t d = 0; d < shape.rank(); ++d) {
    const auto is = [&](int64_t other) { return other == static_cast<int64_t>(d); };
    if (std::none_of(contracting.begin(), contracting.end(), is) &&
        std::none_of(batch.begin(), batch.end(), is))
      dims.push_back(shape[d]);
  }
}

/// Returns whether a sum of products of `operand` may have the dtype `preferred`. By JAX's rule
/// nothing is narrowed, and only integers change their kind.
bool may_give(Dtype operand, Dtype preferred) {
  if (operand == Dtype::Pred || preferred == Dtype::Pred)
    return operand == preferred;
  if (itemsize(preferred) < itemsize(operand) || is_complex(operand) != is_complex(preferred))
    return false;
  if (is_complex(preferred))
    return true;
  if (is_float(preferred))
    return true;
  return is_integer(operand) && is_signed(operand) == is_signed(preferred);
}

TypeOutcome dot_general(const TypeContext& context) {
  const ValueType& lhs = context.operands[0];
  const ValueType& rhs = context.operands[1];
  const DotDimensions of = dot_dimensions(context.attributes);
  if (lhs.dtype != rhs.dtype)
    return TypeError{"of", fmt::format("expected operands of one dtype, got {} and {}",
                                       name(lhs.dtype), name(rhs.dtype))};
  const Dtype dtype = context.attributes.has("preferred_element_type")
                          ? context.attributes.dtype("preferred_element_type")
                          : lhs.dtype;
  if (!may_give(lhs.dtype, dtype))
    return TypeError{
        "preferred_element_type",
        fmt::format("expected a dtype that {} widens to, got {}", name(lhs.dtype), name(dtype))};
  if (auto wrong = side_error("first", lhs.shape, of.lhs_contracting, of.lhs_batch))
    return *wrong;
  if (auto wrong = side_error("second", rhs.shape, of.rhs_contracting, of.rhs_batch))
    return *wrong;
  if (auto wrong =
          pairs_error("contracting", lhs.shape, rhs.shape, of.lhs_contracting, of.rhs_contracting))
    return *wrong;
  if (auto wrong = pairs_error("batch", lhs.shape, rhs.shape, of.lhs_batch, of.rhs_batch))
    return *wrong;
  std::vector<int64_t> dims;
  for (const int64_t d : of.lhs_batch)
    dims.push_back(lhs.shape[static_cast<size_t>(d)]);
  append_free(dims, lhs.shape, of.lhs_contracting, of.lhs_batch);
  append_free(dims, rhs.shape, of.rhs_contracting, of.rhs_batch);
  return typed(dtype, Shape(std::move(dims)),
               joined_states(context.mesh, context.operands, Linearity::Nonlinear));
}

/// Counts a multiplication and an addition for each product, at the rate of the operands' dtype.
/// Complex numbers need four of each, for their parts.
Cost dot_cost(const Attributes& attributes, std::span<const ValueType> operands,
              std::span<const ValueType> results) {
  const int64_t elements = results[0].shape.elements();
  int64_t products = elements;
  const DotDimensions of = dot_dimensions(attributes);
  for (const int64_t d : of.lhs_contracting)
    products = checked_multiply(products, operands[0].shape[static_cast<size_t>(d)]);
  const int64_t flops = is_complex(operands[0].dtype) ? 8 : 2;
  Cost cost{Flops(checked_multiply(flops, products)), touched(operands, results),
            operands[0].dtype};
  if (products > 0) {
    std::vector<int64_t> rows;
    append_free(rows, operands[0].shape, of.lhs_contracting, of.lhs_batch);
    std::vector<int64_t> columns;
    append_free(columns, operands[1].shape, of.rhs_contracting, of.rhs_batch);
    cost.product = {elements, products / elements, Shape(std::move(rows)).elements(),
                    Shape(std::move(columns)).elements()};
  }
  return cost;
}

Tensor dot_value(const LocalCall& call) {
  return dot_general(call.operand(0), call.operand(1), dot_dimensions(call.attributes),
                     call.result().dtype);
}

}  // namespace

std::vector<OpRules> dot_rules() {
  OpRules dot;
  dot.kind = OpKind::DotGeneral;
  dot.name = "dot_general";
  dot.summary = "products summed over contracting dimensions; batch, then free dimensions";
  dot.least_operands = 2;
  dot.most_operands = 2;
  dot.parameters = {
      {"dimension_numbers", ParameterKind::DimensionNumbers, Need::Required, {}, {}, {}, {}},
      {"preferred_element_type", ParameterKind::DtypeName, Need::Optional, {}, {}, {}, {}},
      scratch_parameter()};
  dot.type = dot_general;
  dot.cost = dot_cost;
  dot.evaluate = one_result<dot_value>;
  dot.memory = declared_scratch;
  dot.errors = Errors::Products;
  dot.transforms = {backward::dot_general, LinearIn::OneEach, batching::dot_general};
  return {dot};
}

}  // namespace orrery
