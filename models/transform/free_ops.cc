// This is the part of backward_pass.h that chooses which ops of loops are done again, since that is
// no more work than to save their results.

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "models/base/compiler.h"
#include "models/program/rules.h"
#include "models/transform/backward_pass.h"

namespace orrery {

/// Returns whether the op only moves elements, or computes an integer scalar. Then it is no more
/// work to do it again than to save its results.
bool BackwardPass::is_free(const Op& op) const {
  const OpRules& rules = orrery::rules(op.kind);
  if (rules.family != Family::Local || rules.opaque || op.results.empty())
    return false;
  return rules.errors == Errors::Moved || rules.errors == Errors::Free ||
         std::all_of(op.results.begin(), op.results.end(), [&](ValueId result) {
           const ValueType& type = program_.value(result).type;
           return !type.token && type.shape.rank() == 0 && !is_inexact(type.dtype);
         });
}

/// Returns the buffers whose values the backward pass may not find any more.
std::set<BufferId> BackwardPass::donated_storage() const {
  std::set<BufferId> donated;
  for (const Op& op : program_.ops)
    for (const ValueId value : op.donated)
      donated.insert(program_.value(value).buffer);
  // A body that donates a carry donates the initial value in its first iteration. Inner loops come
  // after those around them.
  for (auto loop = program_.loops.rbegin(); loop != program_.loops.rend(); ++loop)
    for (const Carry& carry : loop->carries)
      if (donated.contains(program_.value(carry.param).buffer))
        donated.insert(program_.value(carry.initial).buffer);
  return donated;
}

/// Makes the pass do the free ops of loops again whose operands come from outside of their
/// iteration, from its index, or from such ops. An operand from outside is then held until the loop
/// has gone back. So it must be an argument, or no larger than what the iterations would save.
void BackwardPass::make_free_ops_again() {
  const std::set<BufferId> donated = donated_storage();
  std::set<ValueId> arguments;
  for (const Argument& argument : program_.arguments)
    arguments.insert(argument.value);
  for (size_t i = 0; i < program_.ops.size(); ++i) {
    const Op& op = program_.ops[i];
    const std::optional<size_t> body =
        op.results.empty() ? std::nullopt : body_[op.results.front().index()];
    if (!body || program_.loops[*body].index == OpId(i) || !is_free(op))
      continue;
    const Loop& loop = program_.loops[*body];
    const Int128 saved =
        Int128{loop.upper - loop.lower} * program_.value(op.results.front()).type.size().count();
    const auto can_be_held = [&](ValueId operand) {
      return arguments.contains(operand) || program_.value(operand).type.size().count() <= saved;
    };
    if (std::all_of(op.operands.begin(), op.operands.end(), [&](ValueId operand) {
          if (donated.contains(program_.value(operand).buffer))
            return false;
          const std::optional<OpId> made = maker(operand);
          return (body_[operand.index()] != body && can_be_held(operand)) ||
                 recomputed_maker(operand) || (made && made == loop.index);
        }))
      recomputed_.insert(OpId(i));
  }
  make_free_ops_of_written_loops_again(donated, arguments);
}

/// Does the same for iterations that are written out, where the operands are there anyway:
/// arguments, and integer scalars from outside of loops. A result is saved without a copy here. So
/// only what is small is made again: scalars, slices and views.
void BackwardPass::make_free_ops_of_written_loops_again(const std::set<BufferId>& donated,
                                                        const std::set<ValueId>& arguments) {
  std::vector<bool> in_loop(program_.ops.size(), false);
  for (const WrittenLoop& loop : program_.written_loops)
    std::fill(in_loop.begin() + loop.written.front().ops.begin,
              in_loop.begin() + loop.last().ops.end, true);
  const auto is_there = [&](ValueId operand) {
    const ValueType& type = program_.value(operand).type;
    const std::optional<OpId> made = maker(operand);
    return !donated.contains(program_.value(operand).buffer) &&
           (arguments.contains(operand) ||
            (made &&
             (recomputed_.contains(*made) ||
              (!in_loop[made->index()] && type.shape.rank() == 0 && !is_inexact(type.dtype)))));
  };
  const auto is_small = [&](const Op& op) {
    return std::ranges::all_of(op.results, [&](ValueId result) {
      const Value& made = program_.value(result);
      if (made.type.shape.rank() == 0)
        return true;
      if (op.operands.empty())
        return false;
      const Value& from = program_.value(op.operands.front());
      return made.buffer == from.buffer || made.type.size() < from.type.size();
    });
  };
  for (size_t i = 0; i < program_.ops.size(); ++i)
    if (const Op& op = program_.ops[i];
        in_loop[i] && is_free(op) && is_small(op) && std::ranges::all_of(op.operands, is_there))
      recomputed_.insert(OpId(i));
}

}  // namespace orrery
