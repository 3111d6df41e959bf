// This file says which ops are one kernel when elementwise ops are fused.

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "models/program/loops.h"
#include "models/program/op_rules.h"

namespace orrery {

namespace {

/// Returns whether a compiler fuses the op with its neighbours: its work is element by element, or
/// a reduction along dimensions.
bool fuses(const OpRules& rules) {
  if (rules.family != Family::Local || rules.opaque || rules.updates_donated)
    return false;
  switch (rules.errors) {
    case Errors::Free:
    case Errors::Selected:
    case Errors::Kept:
    case Errors::Parts:
    case Errors::Function:
    case Errors::Conversion:
    case Errors::Sum:
    case Errors::Extremum:
      return true;
    case Errors::Moved:
      return rules.kind == OpKind::BroadcastInDim;
    case Errors::ScatteredSum:
    case Errors::Products:
    case Errors::StandIn:
    case Errors::Body:
      return false;
  }
  return false;
}

/// FusedOps finds the kernels of a program, and charges the last op of each for all of it.
class FusedOps {
 public:
  explicit FusedOps(Program& program) : program_(program), readers_(program.values.size()) {
    for (size_t i = 0; i < program.ops.size(); ++i)
      for (const ValueId operand : program.ops[i].operands)
        readers_[operand.index()].emplace_back(i);
    for (const Loop& loop : program.loops) {
      for (const Carry& carry : loop.carries)
        leaves_.insert({carry.initial, carry.yielded});
      for (const Exit& exit : loop.exits)
        leaves_.insert(exit.inside);
    }
    leaves_.insert(program.outputs.begin(), program.outputs.end());
  }

  void charge() {
    for (const Thread& thread : program_.threads) {
      std::vector<OpId> chain;  // consecutive ops of one body that can be fused
      for (const OpId id : thread.issue_order) {
        if (!chain.empty() && (!can_be_fused(id) || body_of(id) != body_of(chain.back())))
          charge(std::exchange(chain, {}));
        if (can_be_fused(id))
          chain.push_back(id);
      }
      charge(chain);
    }
  }

 private:
  /// Returns whether the op may stand in a chain. A barrier is there to keep ops apart.
  bool can_be_fused(OpId id) const {
    const Op& op = program_.op(id);
    return op.kind != OpKind::OptimizationBarrier &&
           (fuses(rules(op.kind)) ||
            (rules(op.kind).family == Family::Local && !cost_of(program_, op).runs));
  }

  /// Returns whether the op makes a scalar that a kernel contains. Kernels that share one are not
  /// joined by it.
  bool is_constant(OpId id) const {
    const Op& op = program_.op(id);
    return op.operands.empty() && !cost_of(program_, op).runs;
  }

  std::optional<size_t> body_of(OpId id) const {
    std::optional<size_t> body;
    for (size_t l = 0; l < program_.loops.size(); ++l)
      if (program_.loops[l].ops.has(id.index()))
        body = l;  // inner loops come later
    return body;
  }

  /// Charges the kernels of a chain: ops that read each other's results are one.
  void charge(const std::vector<OpId>& chain) {
    std::vector<size_t> joined(chain.size());  // with an earlier op, or itself
    for (size_t i = 0; i < chain.size(); ++i)
      joined[i] = i;
    const auto root = [&](size_t i) {
      while (joined[i] != i)
        i = joined[i];
      return i;
    };
    std::map<ValueId, size_t> makers;
    for (size_t i = 0; i < chain.size(); ++i) {
      for (const ValueId operand : program_.op(chain[i]).operands)
        if (const auto maker = makers.find(operand);
            maker != makers.end() && !is_constant(chain[maker->second])) {
          const size_t own = root(i);
          const size_t other = root(maker->second);
          joined[std::max(own, other)] = std::min(own, other);
        }
      for (const ValueId result : program_.op(chain[i]).results)
        makers.emplace(result, i);
    }
    std::map<size_t, std::vector<OpId>> kernels;
    for (size_t i = 0; i < chain.size(); ++i)
      kernels[root(i)].push_back(chain[i]);
    for (const auto& [first, ops] : kernels)
      charge_kernel(ops);
  }

  /// Charges the last op of a kernel that runs for all of it.
  void charge_kernel(const std::vector<OpId>& ops) {
    using Place = std::pair<BufferId, Bytes>;
    const std::set<OpId> inside(ops.begin(), ops.end());
    std::set<ValueId> made;
    std::map<Place, Bytes> entering;
    std::map<Place, Bytes> leaving;
    const auto add = [&](ValueId value, std::map<Place, Bytes>& to) {
      const Value& each = program_.value(value);
      Bytes& bytes = to[{each.buffer, each.offset}];
      bytes = std::max(bytes, itemsize(each.type.dtype) * each.type.shape.elements());
    };
    Cost all;
    std::vector<OpId> running;
    for (const OpId id : ops) {
      const Op& op = program_.op(id);
      const Cost cost = cost_of(program_, op);
      if (cost.runs)
        running.push_back(id);
      if (cost.flops > Flops() &&
          (all.flops == Flops() || itemsize(cost.dtype) > itemsize(all.dtype)))
        all.dtype = cost.dtype;
      all.flops += cost.flops;
      for (const ValueId operand : op.operands)
        if (!made.contains(operand))
          add(operand, entering);
      made.insert(op.results.begin(), op.results.end());
    }
    if (running.size() < 2)
      return;
    for (const ValueId value : made) {
      const std::vector<OpId>& readers = readers_[value.index()];
      if (readers.empty() || leaves_.contains(value) ||
          std::any_of(readers.begin(), readers.end(),
                      [&](OpId reader) { return !inside.contains(reader); }))
        add(value, leaving);
    }
    for (const std::map<Place, Bytes>* side : {&entering, &leaving})
      for (const auto& [place, bytes] : *side)
        all.bytes += bytes;
    Cost nothing;
    nothing.runs = false;
    for (const OpId id : running)
      program_.ops[id.index()].charged =
          std::make_shared<const Cost>(id == running.back() ? all : nothing);
  }

  Program& program_;
  std::vector<std::vector<OpId>> readers_;  // by value
  std::set<ValueId> leaves_;                // values that are outputs, or leave an iteration
};

}  // namespace

void fuse_elementwise(Program& program) {
  FusedOps(program).charge();
}

}  // namespace orrery
