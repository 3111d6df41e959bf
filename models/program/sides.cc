#include "models/program/sides.h"

#include <algorithm>
#include <utility>

namespace orrery {

Side side_of(const Op& op) {
  return rules(op.kind).form.side;
}

std::optional<Side> side_of(std::optional<TransferGroup> group, size_t rank) {
  if (!group)
    return Side::Both;
  switch (*group) {
    case TransferGroup::Pair:
      return rank == 0 ? Side::Sends : Side::Receives;
    case TransferGroup::Source:
      return Side::Sends;
    case TransferGroup::Destination:
      return Side::Receives;
    case TransferGroup::Unreceived:
      return rank == 0 ? std::optional(Side::Sends) : std::nullopt;
    case TransferGroup::Unsent:
      break;
  }
  return rank == 1 ? std::optional(Side::Receives) : std::nullopt;
}

std::optional<TransferGroup> transfer_of(const Site& site, size_t group) {
  return site.transfers.empty() ? std::nullopt : std::optional(site.transfers[group]);
}

bool lacks_half(const Site& site) {
  return std::any_of(site.transfers.begin(), site.transfers.end(), [](TransferGroup group) {
    return group == TransferGroup::Unreceived || group == TransferGroup::Unsent;
  });
}

std::span<const ValueId> given_by(const Op& op) {
  const std::span<const ValueId> operands = op.operands;
  const size_t count = side_of(op) == Side::Receives ? 0 : rules(op.kind).form.exchanged_operands;
  return operands.first(count);
}

bool takes_result(const Op& op) {
  return side_of(op) != Side::Sends;
}

ExchangedTypes exchanged_types(const Program& program, const Op& op) {
  const std::span<const ValueId> given = given_by(op);
  if (given.empty()) {
    const ValueType& result = program.value(op.results.front()).type;
    return {result, result};
  }
  ValueType operand = program.value(given.front()).type;
  for (const ValueId next : given.subspan(1)) {
    const Shape& more = program.value(next).type.shape;
    operand.shape = operand.shape.with(0, checked_add(operand.shape[0], more[0]));
  }
  ValueType result = takes_result(op) ? program.value(op.results.front()).type : operand;
  return {std::move(operand), std::move(result)};
}

void add_op(Site& site, const Program& program, OpId op, Side side) {
  auto at = site.ops.end();
  if (side == Side::Sends)
    at = std::find_if(site.ops.begin(), site.ops.end(),
                      [&](OpId other) { return side_of(program.op(other)) == Side::Receives; });
  site.ops.insert(at, op);
}

}  // namespace orrery
