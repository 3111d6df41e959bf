#include "models/scenario/positional_axes.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/program/rules.h"
#include "models/scenario/fields.h"

namespace orrery {

std::optional<OpKind> reduction_over_dimensions(OpKind collective) {
  switch (collective) {
    case OpKind::Psum:
      return OpKind::ReduceSum;
    case OpKind::Pmax:
      return OpKind::ReduceMax;
    case OpKind::Pmin:
      return OpKind::ReduceMin;
    default:
      return std::nullopt;
  }
}

bool may_have_dimensions(DocumentNode axis_name, OpKind collective) {
  if (reduction_over_dimensions(collective) || axis_name.kind() == DocumentNode::Kind::Number)
    return true;
  if (axis_name.kind() == DocumentNode::Kind::List)
    for (const DocumentNode item : axis_name)
      if (item.kind() == DocumentNode::Kind::Number)
        return true;
  return false;
}

namespace {

Axes axes_of(DocumentNode axis_name, OpKind collective, Diagnostics& diagnostics) {
  constexpr const char* kOne = "an axis name or a dimension (a whole number)";
  Axes axes;
  const auto add = [&](DocumentNode item) {
    if (item.kind() == DocumentNode::Kind::Number && !reduction_over_dimensions(collective)) {
      diagnostics.add(item.origin(),
                      fmt::format("expected an axis name, got {}; only psum, pmax and pmin also "
                                  "reduce over dimensions of the operand",
                                  got(item)));
    } else if (item.kind() == DocumentNode::Kind::Number &&
               item.number().find('.') == item.number().npos) {
      if (const auto dimension = read_integer(
              item, "a dimension", {0, std::numeric_limits<int64_t>::max()}, diagnostics))
        axes.dimensions.push_back(*dimension);
    } else if (auto name = read_text(item, kOne, diagnostics)) {
      axes.names.push_back(std::move(*name));
    }
  };
  if (axis_name.kind() == DocumentNode::Kind::List) {
    for (const DocumentNode item : axis_name)
      add(item);
  } else if (axis_name.kind() == DocumentNode::Kind::Number ||
             axis_name.kind() == DocumentNode::Kind::Text) {
    add(axis_name);
  } else {
    expected(axis_name, fmt::format("{}, or a list of them", kOne), diagnostics);
  }
  return axes;
}

}  // namespace

std::optional<Axes> read_axes(DocumentNode axis_name, OpKind collective, std::string_view title,
                              Diagnostics& diagnostics) {
  Diagnostics untitled(diagnostics.file());
  Axes axes = axes_of(axis_name, collective, untitled);
  try {
    untitled.throw_if_any();
  } catch (const InputError& error) {
    for (const Diagnostic& each : error.diagnostics())
      diagnostics.add(each.origin, fmt::format("{}: {}", title, each.message));
    return std::nullopt;
  }
  return axes;
}

std::vector<OpRequest> reduced_first(OpRequest& collective, Dtype operand,
                                     std::vector<int64_t> dimensions) {
  const std::optional<OpKind> kind = reduction_over_dimensions(collective.kind);
  ORRERY_CHECK(kind.has_value(), "read_axes() has refused other collectives");
  OpRequest reduction;
  reduction.name = collective.name + ".local";
  reduction.kind = *kind;
  reduction.title = op_title(collective.kind, collective.issue, collective.name);
  reduction.operands = std::exchange(collective.operands, {reduction.name});
  reduction.donated = std::exchange(collective.donated, {});
  reduction.attributes.set("axes", std::move(dimensions));
  reduction.origin = collective.origin;
  reduction.key_origins = collective.key_origins;
  if (const auto axes = collective.key_origins.find("axis_name");
      axes != collective.key_origins.end())
    reduction.key_origins.insert_or_assign("axes", axes->second);
  std::vector<OpRequest> ops;
  if (operand == Dtype::Pred && collective.kind == OpKind::Psum) {
    OpRequest counted;
    counted.name = collective.name + ".counted";
    counted.kind = OpKind::ConvertElementType;
    counted.title = reduction.title;
    counted.operands = std::exchange(reduction.operands, {counted.name});
    counted.donated = std::exchange(reduction.donated, {});
    counted.attributes.set("new_dtype", Dtype::S32);
    counted.origin = collective.origin;
    counted.key_origins = collective.key_origins;
    ops.push_back(std::move(counted));
  }
  ops.push_back(std::move(reduction));
  return ops;
}

}  // namespace orrery
