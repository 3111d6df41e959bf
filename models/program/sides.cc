#include "models/program/sides.h"

#include <algorithm>
#include <utility>

namespace orrery {

Side side_of(const Op& op) {
  return rules(op.kind).form.side;
}

Side side_of(std::optional<TransferGroup> group, size_t rank) {
  if (!group)
    return Side::Both;
  if (*group == TransferGroup::Pair)
    return rank == 0 ? Side::Sends : Side::Receives;
  return *group == TransferGroup::Source ? Side::Sends : Side::Receives;
}

std::optional<Side> side_of(const Site& site, GroupMember member) {
  if (std::ranges::binary_search(site.absent, member))
    return std::nullopt;
  return side_of(transfer_of(site, member.group), member.rank);
}

std::optional<TransferGroup> transfer_of(const Site& site, size_t group) {
  return site.transfers.empty() ? std::nullopt : std::optional(site.transfers[group]);
}

std::vector<uint32_t> absent_ranks(const Site& site, size_t group) {
  std::vector<uint32_t> ranks;
  for (const GroupMember& member : site.absent)
    if (member.group == group)
      ranks.push_back(member.rank);
  return ranks;
}

std::span<const ValueId> given_by(const Op& op) {
  const std::span<const ValueId> operands = op.operands;
  const size_t count = side_of(op) == Side::Receives ? 0 : rules(op.kind).form.exchanged_operands;
  return operands.first(count);
}

bool takes_result(const Op& op) {
  return side_of(op) != Side::Sends;
}

std::optional<ValueId> token_handed_on(const Op& op, size_t result) {
  return result < op.operands.size() ? std::optional(op.operands[result]) : std::nullopt;
}

std::optional<SiteId> sent_site(const Program& program, ValueId token) {
  for (size_t i = program.ops.size(); i-- > 0;) {
    const Op& op = program.ops[i];
    const auto made = std::find(op.results.begin(), op.results.end(), token);
    if (made == op.results.end())
      continue;
    if (side_of(op) == Side::Sends)
      return op.site;
    const std::optional<ValueId> before =
        token_handed_on(op, static_cast<size_t>(made - op.results.begin()));
    if (!before)
      return std::nullopt;
    token = *before;
  }
  return std::nullopt;
}

bool receives_by_site(const Program& program, const Op& op) {
  return side_of(op) == Side::Receives && program.site(*op.site).named &&
         (op.operands.empty() || !sent_site(program, op.operands.front()));
}

ValueType exchanged_operand(const Program& program, const Op& op) {
  const std::span<const ValueId> given = given_by(op);
  if (given.empty())
    return program.value(op.results.front()).type;
  ValueType operand = program.value(given.front()).type;
  for (const ValueId next : given.subspan(1)) {
    const Shape& more = program.value(next).type.shape;
    operand.shape = operand.shape.with(0, checked_add(operand.shape[0], more[0]));
  }
  return operand;
}

ExchangedTypes exchanged_types(const Program& program, const Op& op) {
  ValueType operand = exchanged_operand(program, op);
  ValueType result = takes_result(op) ? program.value(op.results.front()).type : operand;
  return {std::move(operand), std::move(result)};
}

bool is_discarded(OpKind kind, int64_t elements) {
  return elements == 0 && rules(kind).form.side == Side::Both;
}

bool is_discarded(const Program& program, const Op& op) {
  return is_discarded(op.kind, exchanged_operand(program, op).shape.elements());
}

void add_op(Site& site, const Program& program, OpId op, Side side) {
  auto at = site.ops.end();
  if (side == Side::Sends)
    at = std::find_if(site.ops.begin(), site.ops.end(),
                      [&](OpId other) { return side_of(program.op(other)) == Side::Receives; });
  site.ops.insert(at, op);
}

}  // namespace orrery
