#include "verifier/ragged/defined_values.h"

#include <set>
#include <utility>

#include "models/array/work.h"
#include "models/program/holders.h"
#include "models/program/op_rules.h"
#include "models/program/rules.h"
#include "models/program/sides.h"
#include "models/scenario/scenario.h"
#include "simulator/values/exchanged_operand.h"
#include "simulator/values/host_executor.h"
#include "verifier/definition/definitions.h"

namespace orrery {

namespace {

std::map<ValueId, OpId> makers(const Program& program) {
  std::map<ValueId, OpId> makers;
  for (size_t i = 0; i < program.ops.size(); ++i)
    for (const ValueId result : program.ops[i].results)
      makers.emplace(result, OpId(i));
  return makers;
}

/// Returns the ops that are done together with this one, itself included.
std::vector<OpId> together(const Program& program, OpId op) {
  const std::optional<SiteId> site = program.op(op).site;
  return site ? program.site(*site).ops : std::vector<OpId>{op};
}

}  // namespace

std::vector<OpId> ops_behind(const Program& program, std::span<const ValueId> values) {
  const std::map<ValueId, OpId> maker = makers(program);
  std::set<OpId> needed;  // the first of those that are done together
  std::vector<OpId> open;
  const auto want = [&](ValueId value) {
    const auto made = maker.find(value);
    if (made == maker.end())
      return;
    const OpId first = together(program, made->second).front();
    if (needed.insert(first).second)
      open.push_back(first);
  };
  for (const ValueId value : values)
    want(value);
  while (!open.empty()) {
    const OpId op = open.back();
    open.pop_back();
    for (const OpId each : together(program, op))
      for (const ValueId operand : program.op(each).operands)
        want(operand);
  }

  std::map<OpId, size_t> waits_for;              // number of operands
  std::map<OpId, std::vector<OpId>> awaited_by;  // once for each operand
  std::set<OpId> ready;
  for (const OpId first : needed) {
    for (const OpId each : together(program, first))
      for (const ValueId operand : program.op(each).operands)
        // A token has no value to wait for, and may come from the other half of a transfer.
        if (const auto made = maker.find(operand);
            made != maker.end() && !program.value(operand).type.token) {
          ++waits_for[first];
          awaited_by[together(program, made->second).front()].push_back(first);
        }
    if (waits_for[first] == 0)
      ready.insert(first);
  }
  std::vector<OpId> order;
  while (!ready.empty()) {
    const OpId first = *ready.begin();
    ready.erase(ready.begin());
    for (const OpId each : together(program, first))
      order.push_back(each);
    for (const OpId next : awaited_by[first])
      if (--waits_for[next] == 0)
        ready.insert(next);
  }
  return order;
}

Int128 bytes_of(const Program& program, std::span<const OpId> ops) {
  std::set<ValueId> values;
  for (const OpId op : ops) {
    values.insert(program.op(op).operands.begin(), program.op(op).operands.end());
    values.insert(program.op(op).results.begin(), program.op(op).results.end());
  }
  const Holders holders(program);
  Int128 bytes = 0;
  for (const ValueId value : values)
    bytes += Int128{program.value(value).type.size().count()} *
             static_cast<int64_t>(holders.of(value).size());
  return bytes;
}

DefinedValues::DefinedValues(const Scenario& scenario, const RaggedTables& tables, uint64_t seed)
    : scenario_(scenario),
      program_(scenario.program),
      tables_(tables),
      seed_(seed),
      thread_of_(issued_by(scenario.program)),
      holders_(scenario.program) {
  for (size_t a = 0; a < program_.arguments.size(); ++a)
    arguments_.emplace(program_.arguments[a].value, a);
}

DefinedValues::OnDevices& DefinedValues::known(ValueId value) {
  return known_.try_emplace(value, program_.mesh.devices()).first->second;
}

const Tensor& DefinedValues::at(ValueId value, LogicalId device) {
  std::optional<Tensor>& tensor = known(value)[device.index()];
  if (const auto argument = arguments_.find(value); !tensor && argument != arguments_.end())
    tensor = initial_value(scenario_, scenario_.arrays[argument->second], device, seed_);
  return tensor.value();
}

void DefinedValues::run(OpId id) {
  const Op& op = program_.op(id);
  switch (rules(op.kind).family) {
    case Family::Local:
      return run_local(id);
    case Family::Collective:
      return run_site(*op.site);
    case Family::Done:
      for (const LogicalId device : program_.thread(thread_of_[id.index()]).devices)
        known(op.results.front())[device.index()] = at(op.operands.front(), device);
  }
}

void DefinedValues::run_local(OpId id) {
  const Op& op = program_.op(id);
  const Tensor token(Dtype::Pred, Shape({0}));
  for (const LogicalId device : program_.thread(thread_of_[id.index()]).devices) {
    std::vector<const Tensor*> operands;
    for (const ValueId operand : op.operands)
      operands.push_back(program_.value(operand).type.token ? &token
                         : holders_.has(device, operand)    ? &at(operand, device)
                                                            : nullptr);
    std::vector<Tensor> results = evaluate_local(program_, op, operands, device);
    for (size_t r = 0; r < results.size(); ++r)
      known(op.results[r])[device.index()] = std::move(results[r]);
  }
}

void DefinedValues::run_site(SiteId id) {
  const Site& site = program_.site(id);
  const auto tables = tables_.find(id);
  std::map<std::pair<LogicalId, Side>, OpId> op_of;
  for (const OpId op : site.ops)
    for (const LogicalId device : program_.thread(thread_of_[op.index()]).devices)
      op_of.emplace(std::pair(device, side_of(program_.op(op))), op);
  const Op& first = program_.op(site.ops.front());
  const ValueType exchanged = exchanged_operand(program_, first);
  const WorkType work = work_type(rules(first.kind).form.entering, exchanged.dtype);
  const Numerics numerics = op_folding(program_, first, work).numerics;
  for (size_t g = 0; g < site.groups.size(); ++g) {
    const Group& group = site.groups[g];
    const auto op_by = [&](size_t rank) -> const Op* {
      const std::optional<Side> side =
          side_of(site, {static_cast<uint32_t>(g), static_cast<uint32_t>(rank)});
      return side ? &program_.op(op_of.at({group[rank], *side})) : nullptr;
    };
    const auto given = [&](size_t rank, ValueId operand) { return &at(operand, group[rank]); };
    const GroupOperands operands(program_, first, group.size(), exchanged.dtype, op_by, given);
    const RaggedGroup* const by = tables == tables_.end() ? nullptr : &tables->second->groups[g];
    for (size_t rank = 0; rank < group.size(); ++rank) {
      const Op* const op = op_by(rank);
      if (op == nullptr)
        continue;
      const ValueType& type = program_.value(op->results.front()).type;
      known(op->results.front())[group[rank].index()] =
          takes_result(*op) ? apply(define(*op, exchanged.shape,
                                           static_cast<uint32_t>(group.size()), Rank(rank), by),
                                    operands.tensors(), type.dtype, type.shape, numerics)
                            : Tensor(type.dtype, type.shape);
    }
  }
}

}  // namespace orrery
