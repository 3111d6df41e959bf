#include "models/program/sides.h"

#include <algorithm>

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

std::optional<ValueId> given_by(const Op& op) {
  return side_of(op) == Side::Receives ? std::nullopt : std::optional(op.operands.front());
}

bool takes_result(const Op& op) {
  return side_of(op) != Side::Sends;
}

ExchangedTypes exchanged_types(const Program& program, const Op& op) {
  const auto given = given_by(op);
  const ValueType* const operand = given ? &program.value(*given).type : nullptr;
  const ValueType* const result =
      takes_result(op) ? &program.value(op.results.front()).type : operand;
  return {operand == nullptr ? *result : *operand, *result};
}

void add_op(Site& site, const Program& program, OpId op, Side side) {
  auto at = site.ops.end();
  if (side == Side::Sends)
    at = std::find_if(site.ops.begin(), site.ops.end(),
                      [&](OpId other) { return side_of(program.op(other)) == Side::Receives; });
  site.ops.insert(at, op);
}

}  // namespace orrery
