#include "models/transform/batch_walk.h"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "models/program/batch_ops.h"
#include "models/program/rules.h"
#include "models/program/sides.h"

namespace orrery {

BatchWalk::BatchWalk(const BatchOf& batch, ProgramBuilder& builder)
    : batch_(batch),
      builder_(builder),
      names_(batch.program),
      futures_(batch.program),
      dimensions_(batch.program.values.size()) {
  for (const Loop& loop : batch.program.loops)
    for (const Exit& exit : loop.exits)
      exits_.emplace(exit.outside, exit.inside);
}

/// Returns the value in the body that a value of a single iteration stands for.
ValueId BatchWalk::inside(ValueId value) const {
  for (auto exit = exits_.find(value); exit != exits_.end(); exit = exits_.find(value))
    value = exit->second;
  return value;
}

Batched BatchWalk::batched(ValueId value) const {
  return {batch_.program.value(value).name, dimensions_[inside(value).index()]};
}

void BatchWalk::carry_future(ValueId from, ValueId to) {
  dimension(to) = dimension(from);
  if (const auto awaited = awaited_.find(inside(from)); awaited != awaited_.end())
    awaited_[to] = awaited->second;
}

bool BatchWalk::same_future(ValueId a, ValueId b) const {
  const auto of_a = awaited_.find(inside(a));
  const auto of_b = awaited_.find(inside(b));
  if (batched(a).dimension != batched(b).dimension)
    return false;
  if (of_a == awaited_.end() || of_b == awaited_.end())
    return of_a == of_b;
  return of_a->second.after.empty() && of_b->second.after.empty();
}

/// Returns whether the program has a done of the future, or of a future as which loops carry it.
bool BatchWalk::is_ended(ValueId future) const {
  std::set<ValueId> seen;
  std::vector<ValueId> open = {future};
  while (!open.empty()) {
    const ValueId value = open.back();
    open.pop_back();
    if (!seen.insert(value).second)
      continue;
    if (!futures_.dones(value).empty())
      return true;
    for (const Loop& loop : batch_.program.loops) {
      for (const Carry& carry : loop.carries)
        if (carry.initial == value || carry.yielded == value)
          open.insert(open.end(), {carry.param, carry.result});
      for (const Exit& exit : loop.exits)
        if (exit.inside == value)
          open.push_back(exit.outside);
    }
  }
  return false;
}

void BatchWalk::add_all(std::vector<OpRequest> ops) {
  for (OpRequest& op : ops)
    builder_.op(std::move(op));
}

std::optional<std::string> BatchWalk::add(const Op& op,
                                          const std::vector<std::optional<BatchPlace>>& places) {
  try {
    if (op.kind != OpKind::Done)
      return add_op(op, places);
    add_done(op, places);
    return std::nullopt;
  } catch (const Overflow&) {
    return "the batch has 2^63 or more elements or operations";
  } catch (const TooManyOps&) {
    return fmt::format("the batch needs more than {} ops", batch_.most_ops);
  }
}

namespace {

bool has_place(const Batched& value, const BatchPlace& place) {
  return value.dimension == place.dimension ||
         (!value.dimension && place.of == BatchPlace::Of::Batched);
}

}  // namespace

std::string BatchWalk::placed(const Op& maker, ValueId value, const BatchPlace& place) {
  if (has_place(batched(value), place))
    return batch_.program.value(value).name;
  BatchedOp call(batch_, maker, {}, names_);
  const Shape& shape = batch_.program.value(value).type.shape;
  std::string moved = batching::batched_at(call, batched(value), shape, place.dimension).value;
  add_all(call.take_unnamed());
  return moved;
}

void BatchWalk::finish(BatchedOp& call, const Op& op, std::vector<Batched> results,
                       const std::vector<std::optional<BatchPlace>>& places) {
  for (size_t r = 0; r < results.size(); ++r) {
    if (places[r] && !has_place(results[r], *places[r])) {
      const Shape& shape = batch_.program.value(op.results[r]).type.shape;
      const size_t to = places[r]->dimension;
      results[r] = {batching::batched_at(call, results[r], shape, to).value, to};
    }
    dimension(op.results[r]) = results[r].dimension;
  }
  add_all(call.take(std::move(results)));
}

std::optional<std::string> BatchWalk::add_op(const Op& op,
                                             const std::vector<std::optional<BatchPlace>>& places) {
  std::vector<Batched> operands;
  for (const ValueId operand : op.operands)
    operands.push_back(batched(operand));
  BatchedOp call(batch_, op, std::move(operands), names_);
  const std::string name = op_name(op.kind, op.issue);
  BatchOutcome outcome;
  if (!call.changes())
    outcome = call.unchanged();
  else if (const BatchRule rule = rules(op.kind).transforms.batch; rule == nullptr)
    return fmt::format("{} has no batch rule", name);
  else if (op.attributes.has("axis_index_groups") && batching::axes_of(call).batched)
    return fmt::format("{}: axis_index_groups over \"{}\", whose place the batch takes", name,
                       *batch_.axis);
  else if (op.site && !batch_.program.site(*op.site).absent.empty() &&
           batching::axes_of(call).batched)
    return fmt::format(
        "{}: over \"{}\", whose place the batch takes, without a half of other "
        "devices that matches it",
        name, *batch_.axis);
  else
    outcome = rule(call);
  if (const auto* error = std::get_if<std::string>(&outcome))
    return fmt::format("{}: {}", name, *error);
  auto results = std::get<std::vector<Batched>>(std::move(outcome));
  if (op.issue == Issue::Start && call.changes() && !is_ended(op.results.front()))
    return fmt::format("{}: its done is not in the program that is batched", name);
  if (op.issue == Issue::Start) {
    if (std::optional<BatchedOp::Started> started = call.take_started()) {
      const ValueId future = op.results.front();
      dimension(future) = results.front().dimension;
      awaited_[future] = {std::move(started->after), std::move(started->made),
                          std::move(results.front().value)};
      add_all(std::move(started->ops));
      return std::nullopt;
    }
  }
  finish(call, op, std::move(results), places);
  return std::nullopt;
}

void BatchWalk::add_done(const Op& op, const std::vector<std::optional<BatchPlace>>& places) {
  const ValueId future = op.operands.front();
  BatchedOp call(batch_, op, {batched(future)}, names_);
  Batched result = batched(future);
  // If the batched op started nothing, its value is the result already.
  if (const auto found = awaited_.find(inside(future)); found != awaited_.end()) {
    const Awaited& awaited = found->second;
    const std::string end = call.op(OpKind::Done, {result.value}, {}, 1).front();
    result.value = call.add_renamed(awaited.after, awaited.made, end, awaited.result);
  }
  finish(call, op, {std::move(result)}, places);
}

}  // namespace orrery
