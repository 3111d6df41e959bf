// This file has the local ops whose results are not made of operands: axis_index, axis_size, full,
// iota, create_token, and compute, which stands for a computation that is not written out.

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/program/families.h"
#include "models/program/groups.h"

namespace orrery {

namespace {

using Need = Parameter::Need;

AxisStates invarying(const Mesh& mesh) {
  return AxisStates(mesh.axes().size(), AxisState::Invarying);
}

TypeOutcome axis_index(const TypeContext& context) {
  AxisStates states = invarying(context.mesh);
  for (const size_t axis : axis_positions(context.mesh, context.attributes.names("axis_name")))
    states[axis] = AxisState::Varying;
  return typed(Dtype::S32, Shape(), std::move(states));
}

Tensor s32_scalar(int64_t value) {
  Tensor scalar(Dtype::S32, Shape());
  set_element_from_int64(scalar, 0, value);
  return scalar;
}

/// Returns the mesh positions of `axis_name`.
std::vector<size_t> axes_of(const LocalCall& call) {
  return axis_positions(call.mesh, call.attributes.names("axis_name"));
}

Tensor axis_index_value(const LocalCall& call) {
  return s32_scalar(call.mesh.index(call.device, axes_of(call)));
}

TypeOutcome axis_size(const TypeContext& context) {
  return typed(Dtype::S32, Shape(), invarying(context.mesh));
}

Tensor axis_size_value(const LocalCall& call) {
  return s32_scalar(call.mesh.size(axes_of(call)));
}

TypeOutcome full(const TypeContext& context) {
  const Dtype dtype = context.attributes.dtype("dtype");
  if (auto error = number_error("fill_value", dtype, context.attributes.number("fill_value")))
    return *error;
  return typed(dtype, Shape(context.attributes.integers("shape")), invarying(context.mesh));
}

Tensor full_value(const LocalCall& call) {
  return full(call.result().dtype, call.result().shape, call.attributes.number("fill_value"));
}

TypeOutcome iota(const TypeContext& context) {
  const Dtype dtype = context.attributes.dtype("dtype");
  Shape shape(context.attributes.integers("shape"));
  if (shape.rank() == 0)
    return TypeError{"shape", "expected a shape with dimensions, got []"};
  if (auto error =
          dimension_error("dimension", context.attributes.integer("dimension"), shape.rank()))
    return *error;
  if (dtype == Dtype::Pred)
    return TypeError{"dtype", "expected a dtype of numbers, got pred"};
  return typed(dtype, std::move(shape), invarying(context.mesh));
}

Tensor iota_value(const LocalCall& call) {
  return iota(call.result().dtype, call.result().shape,
              static_cast<size_t>(call.attributes.integer("dimension")));
}

/// The op writes its result.
Cost written(const Attributes&, std::span<const ValueType>, std::span<const ValueType> results) {
  return {Flops(0), results[0].size(), results[0].dtype};
}

/// The op writes its result. But a scalar is a constant of the code that reads it.
Cost full_cost(const Attributes&, std::span<const ValueType>, std::span<const ValueType> results) {
  return {Flops(0), results[0].size(), results[0].dtype, results[0].shape.rank() > 0};
}

constexpr std::string_view kInPlace = "in_place_of";

/// Returns the error in an operand that a result of `size` bytes is to overwrite.
std::optional<TypeError> in_place_error(const TypeContext& context, Bytes size) {
  const auto error = [](std::string message) {
    return TypeError{std::string(kInPlace), std::move(message)};
  };
  const int64_t operand = context.attributes.integer(kInPlace);
  if (operand >= static_cast<int64_t>(context.operands.size()))
    return error(fmt::format("expected one of {} operands, counted from 0, got {}",
                             context.operands.size(), operand));
  const Bytes room = context.operands[static_cast<size_t>(operand)].size();
  if (room != size)
    return error(fmt::format("expected an operand of {} B, as the result has, got one of {} B",
                             size.count(), room.count()));
  return std::nullopt;
}

TypeOutcome compute(const TypeContext& context) {
  const bool in_place = context.attributes.has(kInPlace);
  const StatesOutcome states = joined_states(context.mesh, context.operands, Linearity::Nonlinear);
  if (!context.attributes.has("shape")) {
    if (const auto* error = std::get_if<TypeError>(&states))
      return *error;
    if (in_place)
      return TypeError{std::string(kInPlace), "expected a shape: there is no result to write"};
    return std::vector<ValueType>{};
  }
  TypeOutcome outcome =
      typed(context.attributes.dtype("dtype"), Shape(context.attributes.integers("shape")), states);
  const auto* types = std::get_if<std::vector<ValueType>>(&outcome);
  if (types != nullptr && in_place)
    if (auto error = in_place_error(context, types->front().size()))
      return *error;
  return outcome;
}

OpMemory compute_memory(const Attributes& attributes, std::span<const ValueType> operands,
                        std::span<const ValueType> results) {
  OpMemory memory = declared_scratch(attributes, operands, results);
  if (attributes.has(kInPlace))
    memory.results[0] = {Alias::InPlace, static_cast<size_t>(attributes.integer(kInPlace))};
  return memory;
}

/// Returns the value of a result whose computation is not given. It is the first operand, so that
/// numbers flow through a program, or zeros if the operand's type differs.
Tensor stand_in(const LocalCall& call) {
  if (!call.operands.empty() && call.operand(0).dtype() == call.result().dtype &&
      call.operand(0).shape() == call.result().shape)
    return call.operand(0);
  return Tensor(call.result().dtype, call.result().shape);
}

/// A precv of this token meets its psend by a site's name, so its result may vary over any axis.
TypeOutcome token(const TypeContext& context) {
  const AxisStates varying(context.mesh.axes().size(), AxisState::Varying);
  return std::vector<ValueType>{{Dtype::Pred, Shape({0}), varying, false, /*token=*/true}};
}

Tensor token_value(const LocalCall& call) {
  return Tensor(call.result().dtype, call.result().shape);
}

Cost nothing_runs(const Attributes&, std::span<const ValueType>,
                  std::span<const ValueType> results) {
  return {Flops(0), Bytes(0), results[0].dtype, false};
}

/// Returns the cost that the op's parameters state.
Cost given(const Attributes& attributes, std::span<const ValueType>, std::span<const ValueType>) {
  return {attributes.flops("flops"), attributes.bytes("bytes"), attributes.dtype("dtype")};
}

OpRules source(OpKind kind, std::string_view name, std::string_view summary,
               std::vector<Parameter> parameters, TypeRule type, CostRule cost,
               EvaluateRule evaluate, BatchRule batch = nullptr) {
  OpRules rules;
  rules.kind = kind;
  rules.name = name;
  rules.summary = summary;
  rules.least_operands = 0;
  rules.most_operands = 0;
  rules.parameters = std::move(parameters);
  rules.type = type;
  rules.cost = cost;
  rules.evaluate = evaluate;
  rules.transforms.batch = batch;
  return rules;
}

}  // namespace

std::vector<OpRules> source_rules() {
  const Parameter dtype = {"dtype", ParameterKind::DtypeName, Need::Required, {}, {}, {}, {}};
  OpRules opaque = source(OpKind::Compute, "compute",
                          "a computation known by its cost; with a shape it has a result, whose "
                          "values are stand-ins",
                          {{"flops", ParameterKind::FlopCount, Need::Required, {}, 0, {}, {}},
                           {"bytes", ParameterKind::ByteCount, Need::Required, {}, 0, {}, {}},
                           dtype,
                           {"shape", ParameterKind::Integers, Need::Optional, {}, 0, {}, {}},
                           {"backward", ParameterKind::WorkCount, Need::Optional, {}, 0, {}, {}},
                           {kInPlace, ParameterKind::Integer, Need::Optional, {}, 0, {}, {}},
                           scratch_parameter()},
                          compute, given, one_result<stand_in>);
  opaque.most_operands = std::numeric_limits<size_t>::max();
  opaque.memory = compute_memory;
  opaque.opaque = true;
  opaque.errors = Errors::StandIn;
  opaque.transforms = {backward::compute, LinearIn::None, batching::compute};
  return {source(OpKind::AxisIndex, "axis_index", "the device's index over the axes, s32",
                 {{"axis_name", ParameterKind::Names, Need::Required, {}, {}, {}, {}}}, axis_index,
                 written, one_result<axis_index_value>, batching::axis_index),
          source(OpKind::AxisSize, "axis_size",
                 "the number of devices along the axes, s32; known from the mesh, nothing is sent",
                 {{"axis_name", ParameterKind::Names, Need::Required, {}, {}, {}, {}}}, axis_size,
                 written, one_result<axis_size_value>, batching::axis_size),
          source(OpKind::Full, "full", "every element the same",
                 {{"shape", ParameterKind::Integers, Need::Required, {}, 0, {}, {}},
                  {"fill_value", ParameterKind::Number, Need::Required, {}, {}, {}, {}},
                  dtype},
                 full, full_cost, one_result<full_value>),
          source(OpKind::Iota, "iota", "each element is its index along the dimension",
                 {dtype,
                  {"shape", ParameterKind::Integers, Need::Required, {}, 0, {}, {}},
                  {"dimension", ParameterKind::Integer, Need::Required, {}, {}, {}, {}}},
                 iota, written, one_result<iota_value>),
          source(OpKind::CreateToken, "create_token",
                 "a token: no data, for precv and optimization_barrier to come after", {}, token,
                 nothing_runs, one_result<token_value>),
          opaque};
}

}  // namespace orrery
