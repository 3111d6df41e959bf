// This file has the backward rules of the ops that take rows, and of those that add to rows.

#include "models/program/backward_ops.h"
#include "models/program/families.h"

namespace orrery::backward {

namespace {

/// Returns the parameters that say which rows are meant.
Attributes rows_of(const BackwardCall& call) {
  return with(
      {{"axis", call.attributes().integer("axis")}, {"mode", call.attributes().text("mode")}});
}

}  // namespace

/// A row that was taken several times gets the sum of the cotangents. Places that were filled came
/// from no row.
Cotangents take(BackwardCall& call) {
  Cotangents cotangents(call.operands());
  if (call.wants(0)) {
    const std::optional<std::string> sum = call.sum_so_far(0);
    const std::string to = sum ? *sum : zeros_beside(call, call.operand_type(0).shape);
    cotangents[0] = call.ops().op(OpKind::ScatterAdd, {to, call.cotangent(), call.operand(1)},
                                  rows_of(call), {to});
  }
  return cotangents;
}

/// An update without a row gets a cotangent of zeros.
Cotangents scatter_add(BackwardCall& call) {
  Cotangents cotangents(call.operands());
  if (call.wants(0))
    cotangents[0] = call.cotangent();
  if (call.wants(1)) {
    Attributes attributes = rows_of(call);
    if (attributes.text("mode") == "fill")
      attributes.set("fill_value", 0.0);
    cotangents[1] =
        call.ops().op(OpKind::Take, {call.cotangent(), call.operand(2)}, std::move(attributes));
  }
  return cotangents;
}

}  // namespace orrery::backward
