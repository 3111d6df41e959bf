// This file has the two local ops that reshards of MPMD arrays are made of (builder_reshards.cc).
// held_on frees its operand on all but some devices. held_or_zeros gives an array that is on some
// devices to a collective of all.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/program/families.h"
#include "models/program/groups.h"

namespace orrery {

namespace {

using Need = Parameter::Need;

const Parameter kDevices = {"devices", ParameterKind::Integers, Need::Required, {}, 0, {}, {}};

bool is_among(const Attributes& attributes, LogicalId device) {
  const std::vector<int64_t>& devices = attributes.integers("devices");
  return std::binary_search(devices.begin(), devices.end(), int64_t{device.index()});
}

/// The copies are equal along the axes `equal_along`.
TypeOutcome held_on_type(const TypeContext& context) {
  ValueType type = context.operands[0];
  for (const size_t axis : axis_positions(context.mesh, context.attributes.names("equal_along")))
    type.axes[axis] = AxisState::Invarying;
  return std::vector<ValueType>{std::move(type)};
}

Tensor held_operand(const LocalCall& call) {
  return call.operand(0);
}

/// The operand is donated, since other devices free it.
OpMemory in_operand(const Attributes&, std::span<const ValueType>, std::span<const ValueType>) {
  return {{{Alias::InPlace, 0}}};
}

/// The result varies along the axes by which devices that give their operand differ from others.
TypeOutcome held_or_zeros_type(const TypeContext& context) {
  ValueType type = context.operands[0];
  for (size_t axis = 0; axis < type.axes.size(); ++axis)
    for (const LogicalId device : all_devices(context.mesh))
      if (is_among(context.attributes, device) !=
          is_among(context.attributes, context.mesh.with_index(device, {&axis, 1}, 0)))
        type.axes[axis] = AxisState::Varying;
  return std::vector<ValueType>{std::move(type)};
}

/// Returns the operand, or zeros. A device that lacks the operand is given none. Bounds on errors
/// (Errors::Moved) are f64, whatever the result is.
Tensor operand_or_zeros(const LocalCall& call) {
  if (is_among(call.attributes, call.device))
    return call.operand(0);
  const bool errors = call.operands[0] != nullptr && call.operand(0).dtype() == Dtype::F64;
  return Tensor(errors ? Dtype::F64 : call.result().dtype, call.result().shape);
}

Cost copied(const Attributes&, std::span<const ValueType> operands,
            std::span<const ValueType> results) {
  return {Flops(0), touched(operands, results), results[0].dtype};
}

OpRules rule(OpKind kind, std::string_view name, std::string_view summary,
             std::vector<Parameter> parameters, TypeRule type, CostRule cost, EvaluateRule evaluate,
             MemoryRule memory) {
  OpRules rules;
  rules.kind = kind;
  rules.name = name;
  rules.summary = summary;
  rules.parameters = std::move(parameters);
  rules.type = type;
  rules.cost = cost;
  rules.evaluate = evaluate;
  rules.memory = memory;
  rules.donates_overwritten = true;
  rules.errors = Errors::Moved;
  return rules;
}

}  // namespace

std::vector<OpRules> reshard_rules() {
  return {rule(OpKind::HeldOn, "held_on", "the operand on these devices only; others free it",
               {kDevices,
                {"equal_along",
                 ParameterKind::Names,
                 Need::Optional,
                 std::vector<std::string>(),
                 {},
                 {},
                 {}}},
               held_on_type, renaming_cost, one_result<held_operand>, in_operand),
          rule(OpKind::HeldOrZeros, "held_or_zeros",
               "the operand of these devices, zeros elsewhere", {kDevices}, held_or_zeros_type,
               copied, one_result<operand_or_zeros>, results_over_dying)};
}

}  // namespace orrery
