#include "verifier/oracle/folds.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/program/rules.h"

namespace orrery {

namespace {

int64_t extents(const Shape& shape, const std::vector<int64_t>& dimensions) {
  int64_t product = 1;
  for (const int64_t d : dimensions)
    product *= shape[static_cast<size_t>(d)];
  return product;
}

}  // namespace

int64_t terms(const Program& program, const Op& op) {
  if (op.results.empty() || !is_inexact(program.value(op.results.front()).type.dtype))
    return 1;
  if (op.site) {
    size_t largest = 1;
    if (rules(op.kind).form.combine == Combine::Add)
      for (const Group& group : program.site(*op.site).groups)
        largest = std::max(largest, group.size());
    return static_cast<int64_t>(largest);
  }
  if (op.kind == OpKind::DotGeneral)
    return extents(program.value(op.operands.front()).type.shape,
                   op.attributes.lists("dimension_numbers").front());
  if (op.kind == OpKind::ReduceSum)
    return extents(program.value(op.operands.front()).type.shape, op.attributes.integers("axes"));
  return 1;
}

std::set<OpId> ops_behind(const Program& program, ValueId value) {
  std::vector<std::optional<OpId>> made_by(program.values.size());
  for (size_t i = 0; i < program.ops.size(); ++i)
    for (const ValueId result : program.ops[i].results)
      made_by[result.index()] = OpId(i);
  std::set<OpId> seen;
  std::vector<OpId> open;
  const auto visit = [&](OpId id) {
    if (seen.insert(id).second)
      open.push_back(id);
  };
  if (made_by[value.index()])
    visit(*made_by[value.index()]);
  while (!open.empty()) {
    const Op& op = program.op(open.back());
    open.pop_back();
    for (const ValueId operand : op.operands)
      if (made_by[operand.index()])
        visit(*made_by[operand.index()]);
    if (op.site)
      for (const OpId other : program.site(*op.site).ops)
        visit(other);
  }
  return seen;
}

std::string different_sums(const Program& program, ValueId a, ValueId b) {
  using Length = std::pair<OpKind, int64_t>;
  const std::set<OpId> sides[] = {ops_behind(program, a), ops_behind(program, b)};
  std::set<Length> lengths[2];
  for (size_t side = 0; side < 2; ++side)
    for (const OpId id : sides[side])
      lengths[side].emplace(program.op(id).kind, terms(program, program.op(id)));
  std::set<OpId> either = sides[0];
  either.insert(sides[1].begin(), sides[1].end());
  std::string text;
  for (const OpId id : either) {
    const Op& op = program.op(id);
    const Length length(op.kind, terms(program, op));
    if (length.second < 2 || (lengths[0].count(length) != 0 && lengths[1].count(length) != 0))
      continue;
    text += fmt::format("{}\"{}\" ({} of {} terms)", text.empty() ? "" : ", ", op.name,
                        rules(op.kind).name, length.second);
  }
  return text;
}

}  // namespace orrery
