#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "models/program/batch_ops.h"
#include "models/program/rules.h"
#include "models/transform/batch_walk.h"

namespace orrery {

std::vector<std::string> BatchedOp::op(OpKind kind, std::vector<std::string> operands,
                                       Attributes attributes, size_t results) {
  if (static_cast<int64_t>(ops_.size()) >= batch_.most_ops)
    throw TooManyOps();
  OpRequest request;
  request.kind = kind;
  request.attributes = with_hints(std::move(attributes), kind, op_.hints);
  request.operands = std::move(operands);
  request.origin = op_.origin;
  request.pass = op_.pass;
  if (op_.forward)
    request.forward = batch_.program.op(*op_.forward).name;
  request.name = names_.take(op_.name + ".batch");
  std::vector<std::string> names;
  for (size_t r = 0; r < results; ++r)
    names.push_back(r == 0 ? request.name : names_.take(op_.name + ".batch"));
  if (results > 1)
    request.other_results.assign(names.begin() + 1, names.end());
  ops_.push_back(std::move(request));
  return names;
}

bool BatchedOp::changes() const {
  if (std::any_of(operands_.begin(), operands_.end(),
                  [](const Batched& operand) { return operand.dimension.has_value(); }))
    return true;
  return op_.attributes.has("axis_name") && batching::axes_of(*this).batched;
}

std::vector<Batched> BatchedOp::unchanged() {
  std::vector<std::string> operands;
  for (const Batched& operand : operands_)
    operands.push_back(operand.value);
  std::vector<Batched> results;
  for (std::string& value : op(op_.kind, std::move(operands), op_.attributes, op_.results.size()))
    results.push_back({std::move(value), std::nullopt});
  return results;
}

namespace {

void rename(std::vector<OpRequest>& ops, const std::map<std::string, std::string>& names) {
  const auto renamed = [&](std::string& name) {
    if (const auto found = names.find(name); found != names.end())
      name = found->second;
  };
  for (OpRequest& op : ops) {
    renamed(op.name);
    std::for_each(op.other_results.begin(), op.other_results.end(), renamed);
    std::for_each(op.operands.begin(), op.operands.end(), renamed);
  }
}

}  // namespace

std::string BatchedOp::add_renamed(std::vector<OpRequest> ops, const std::string& made,
                                   const std::string& as, const std::string& result) {
  std::map<std::string, std::string> names = {{made, as}};
  for (const OpRequest& op : ops)
    for (size_t r = 0; r <= op.other_results.size(); ++r)
      names.emplace(op.result_name(r), names_.take(op_.name + ".batch"));
  rename(ops, names);
  for (OpRequest& op : ops)
    ops_.push_back(std::move(op));
  return names.at(result);
}

/// Lets the last op that reads a value which the op donates take that value's memory.
void BatchedOp::pass_on_donations(std::vector<OpRequest>& ops) const {
  for (const ValueId value : op_.donated) {
    const std::string& name = batch_.program.value(value).name;
    const auto reader = std::find_if(ops.rbegin(), ops.rend(), [&](const OpRequest& op) {
      return std::find(op.operands.begin(), op.operands.end(), name) != op.operands.end();
    });
    if (reader != ops.rend())
      reader->donated.push_back(name);
  }
}

std::vector<OpRequest> BatchedOp::take(std::vector<Batched> results) {
  std::set<std::string_view> made;
  for (const OpRequest& op : ops_)
    for (size_t r = 0; r <= op.other_results.size(); ++r)
      made.insert(op.result_name(r));
  for (size_t r = 0; r < results.size(); ++r) {
    if (made.contains(results[r].value))
      continue;
    if (result_type(r).token) {
      results[r].value = batching::op(*this, OpKind::OptimizationBarrier, {results[r].value});
      continue;
    }
    const Shape& shape = result_type(r).shape;
    const std::optional<size_t> batch = results[r].dimension;
    Attributes attributes = batching::given(
        {{"new_sizes", batching::dims_of(batch ? shape.inserted(*batch, size()) : shape)}});
    results[r].value = batching::op(*this, OpKind::Reshape, {results[r].value}, attributes);
  }
  std::map<std::string, std::string> names;
  for (size_t r = 0; r < results.size(); ++r)
    names.emplace(results[r].value, batch_.program.value(op_.results[r]).name);
  if (results.empty())
    names.emplace(ops_.back().name, op_.name);
  rename(ops_, names);
  pass_on_donations(ops_);
  return std::move(ops_);
}

std::optional<BatchedOp::Started> BatchedOp::take_started() {
  const auto collective = std::find_if(ops_.begin(), ops_.end(), [](const OpRequest& op) {
    return rules(op.kind).family == Family::Collective;
  });
  if (collective == ops_.end())
    return std::nullopt;
  Started started;
  started.made = std::exchange(collective->name, op_.name);
  collective->issue = Issue::Start;
  started.after.assign(collective + 1, ops_.end());
  started.ops.assign(ops_.begin(), collective + 1);
  pass_on_donations(started.ops);
  return started;
}

}  // namespace orrery
