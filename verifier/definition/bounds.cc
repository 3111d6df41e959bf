#include "verifier/definition/bounds.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/program/futures.h"
#include "models/program/op_rules.h"
#include "models/program/rules.h"
#include "models/program/sides.h"
#include "simulator/schedule/program_walk.h"
#include "simulator/schedule/run_table.h"
#include "simulator/values/exchanged_operand.h"
#include "simulator/values/host_visitor.h"
#include "simulator/values/live_values.h"
#include "verifier/definition/bound_tensor.h"
#include "verifier/definition/definitions.h"
#include "verifier/definition/local_bounds.h"
#include "verifier/definition/rounding.h"

namespace orrery {

namespace {

/// Returns a tensor that somebody else owns; null if there is none.
SharedTensor unowned(const std::optional<Tensor>& tensor) {
  return SharedTensor(SharedTensor(), tensor ? &*tensor : nullptr);
}

/// Returns zeros for the arguments, which are exact.
DeviceValues argument_bounds(const Program& program, const DeviceValues& values) {
  DeviceValues bounds(program);
  for (const Argument& argument : program.arguments)
    for (uint32_t d = 0; d < program.mesh.devices(); ++d)
      if (const std::optional<Tensor>& value = values.at(argument.value, LogicalId(d)))
        bounds.at(argument.value, LogicalId(d)) = Tensor(Dtype::F64, value->shape());
  return bounds;
}

/// Computes the bounds of each run of an op when the walk comes to it.
class Bounds {
 public:
  /// `values` are those of an earlier run, which has one iteration of each.
  Bounds(const Program& program, const Lowered& lowered, const DeviceValues& values,
         RoundedBy rounded_by, const OtherRun* other)
      : Bounds(program, lowered, argument_bounds(program, values), rounded_by) {
    known_.emplace(Known{values, Futures(program), other});
  }
  /// The values are made again, since an earlier run kept few iterations of each.
  Bounds(const Program& program, const Lowered& lowered, DeviceValues arguments,
         HostKernels kernels)
      : Bounds(program, lowered, argument_bounds(program, arguments), RoundedBy::Orrery) {
    made_.emplace(program, lowered, std::move(arguments), VisitEndedRun(), kernels);
  }

  DeviceValues take() { return std::move(bounds_).finish(); }

  void local(OpRun run, LogicalId device) {
    const Op& op = program_.op(run.op);
    std::vector<SharedTensor> operands;  // the next iteration's may take their place
    for (const ValueId operand : op.operands)
      operands.push_back(value(operand, run, device));
    if (made_)
      made_->local(run, device);
    if (op.results.empty() || !bounds_.has(device, op.results.front()))
      return;
    if (has_same_bits(op) || lowered_.iterations->index(run)) {
      for (const ValueId result : op.results)
        put(result, run, device, Tensor(Dtype::F64, program_.value(result).type.shape));
      return;
    }
    LocalValues of;
    const Tensor nothing(Dtype::F64, Shape());  // of an operand that the device lacks
    for (size_t k = 0; k < operands.size(); ++k) {
      const Tensor* const bound = bounds_.read(op.operands[k], run, device);
      of.operands.push_back(bound != nullptr ? operands[k].get() : &nothing);
      of.errors.push_back(bound != nullptr ? bound : &nothing);
    }
    std::vector<SharedTensor> results;
    for (const ValueId result : op.results)
      of.results.push_back(results.emplace_back(value(result, run, device)).get());
    std::vector<Tensor> bounds = local_.of(op, device, of);
    for (size_t r = 0; r < op.results.size(); ++r)
      put(op.results[r], run, device, where_alike(op.results[r], device, std::move(bounds[r])));
  }

  void issue(CollectiveRun run, Node node, OpRun by) {
    if (made_)
      made_->issue(run, node, by);
    const Collective& collective = lowered_.collective(run.collective);
    Running& running = running_[running_.slot(run)];
    running.members.resize(collective.members.size());
    running.sizes.clear();
    Entered& entered = running.members[node.index()];
    entered.op = &program_.op(by.op);
    for (const ValueId operand : entered.op->operands) {
      entered.values.push_back(value(operand, by, collective.members[node.index()]));
      entered.bounds.push_back(bounds_.hold(operand, by, collective.members[node.index()]));
    }
  }

  void done(OpRun run, LogicalId device) {
    if (made_)
      made_->done(run, device);
    const Op& op = program_.op(run.op);
    bounds_.share(op.results.front(), op.operands.front(), run, device);
  }

  void enter(CollectiveRun run, Node node, OpRun by) {
    if (made_)
      made_->enter(run, node, by);
  }
  void receive(CollectiveRun run, StepRef ref, const Step& step) {
    if (made_)
      made_->receive(run, ref, step);
  }
  void send(CollectiveRun run, StepRef ref, const Step& step) {
    if (made_)
      made_->send(run, ref, step);
  }

  void exit(CollectiveRun run, Node node, OpRun by) {
    if (made_)
      made_->exit(run, node, by);
    const Collective& collective = lowered_.collective(run.collective);
    const LogicalId device = collective.members[node.index()];
    const Op& op = program_.op(by.op);
    const uint32_t slot = running_.slot(run);
    Tensor bound = takes_result(op) && !has_same_bits(op)
                       ? result_bound(collective, running_[slot], node, by)
                       : Tensor(Dtype::F64, program_.value(op.results.front()).type.shape);
    if (known_)
      if (const std::optional<ValueId> result = known_->futures.result(op))
        bound = where_alike(*result, device, std::move(bound));
    put(op.results.front(), by, device, std::move(bound));
    if (++running_[slot].exited == collective.members.size())
      running_.erase(slot);
  }

 private:
  /// The values of an earlier run.
  struct Known {
    const DeviceValues& values;
    Futures futures;
    const OtherRun* other;
  };
  /// A member of a collective, from when its list comes to the collective.
  struct Entered {
    const Op* op = nullptr;
    std::vector<SharedTensor> values;  // of the op's operands; null where the device has none
    std::vector<SharedTensor> bounds;
  };
  /// A run of a collective that not all members have left.
  struct Running {
    std::vector<Entered> members;  // by rank
    std::vector<Tensor> sizes;     // the magnitudes of the operands, in rank order, once needed
    size_t exited = 0;
  };

  Bounds(const Program& program, const Lowered& lowered, DeviceValues arguments,
         RoundedBy rounded_by)
      : program_(program),
        lowered_(lowered),
        rounded_by_(rounded_by),
        local_(program, rounded_by),
        bounds_(program, lowered.iterations, std::move(arguments)),
        running_(lowered.collectives.size()) {}

  /// Returns an operand of a run, or its result; null if the device has none.
  SharedTensor value(ValueId value, OpRun run, LogicalId device) const {
    return made_ ? made_->values().hold(value, run, device)
                 : unowned(known_->values.at(value, device));
  }

  void put(ValueId value, OpRun run, LogicalId device, Tensor bound) {
    bounds_.put({value, run.iteration}, device, std::make_shared<Tensor>(std::move(bound)));
  }

  /// Returns the bound of what a member gets.
  Tensor result_bound(const Collective& collective, Running& running, Node node, OpRun by) const {
    const Op& op = program_.op(by.op);
    const ValueType& type = program_.value(op.results.front()).type;
    const std::vector<Entered>& members = running.members;
    // A wrong schedule may end before a member has entered.
    const auto op_of = [&](size_t r) { return members[r].op; };
    const auto bound_of = [&](size_t r, ValueId operand) {
      const std::vector<ValueId>& operands = members[r].op->operands;
      const auto at = std::ranges::find(operands, operand) - operands.begin();
      return members[r].bounds[static_cast<size_t>(at)].get();
    };
    const auto has_exact_tables = [&](const Entered& member) {
      if (member.op == nullptr)
        return true;
      const auto tables = std::span(member.bounds).subspan(given_by(*member.op).size());
      return std::ranges::all_of(
          tables, [](const SharedTensor& bound) { return bound == nullptr || all_zero(*bound); });
    };
    if (!std::ranges::all_of(members, has_exact_tables)) {  // the slices might be others
      Tensor unknown(Dtype::F64, type.shape);
      std::ranges::fill(unknown.as<double>(), kNoBound);
      return unknown;
    }
    const GroupOperands given_bounds(program_, op, members.size(), Dtype::F64, op_of, bound_of);
    std::vector<const Tensor*> errors = given_bounds.tensors();
    const Numerics numerics = rounded_by_ == RoundedBy::Xla
                                  ? Numerics::XlaCpu
                                  : op_folding(program_, op, collective.work).numerics;
    std::vector<Tensor> of_taken;
    if (numerics == Numerics::XlaCpu) {
      of_taken.reserve(errors.size());
      for (size_t r = 0; r < errors.size(); ++r)
        if (const auto value = given(members[r]))
          errors[r] = &of_taken.emplace_back(taken_with_error(value->tensor(), *errors[r]).error);
    }
    const auto count = static_cast<uint32_t>(members.size());
    const Definition definition = define(op, exchanged_operand(program_, op).shape, count,
                                         Rank(node.index()), tables_of(lowered_, collective));
    if (!is_inexact(type.dtype)) {
      Definition of_errors = definition;
      of_errors.leaving = Leaving::Same;
      if (definition.combine != Combine::None)
        of_errors.combine = Combine::Max;
      return exact_or_unknown(apply(of_errors, errors, Dtype::F64, type.shape));
    }
    Definition of_errors = definition;
    // The error of an extremum, also of a minimum, is at most the largest error of its values.
    if (definition.combine == Combine::Min)
      of_errors.combine = Combine::Max;
    Tensor bound = apply(of_errors, errors, Dtype::F64, type.shape);
    if (definition.combine == Combine::Add) {
      // A sum of integers is exact, and is rounded once to become a mean's float.
      const bool mean = definition.leaving == Leaving::Mean;
      const bool exact = !is_inexact(program_.value(op.operands.front()).type.dtype);
      const FloatFormat format = float_format(type.dtype);
      // The terms of a mean are divided by the number already.
      const Tensor terms = apply(definition, sizes(op, running), Dtype::F64, type.shape);
      const Tensor carried = bound;
      bound = each(std::move(bound), [&](double error, size_t i) {
        const double size = terms.as<double>()[i];
        const double sum =
            exact ? format.unit_roundoff * size : sum_error(type.dtype, count, size, numerics);
        return error + sum + (mean ? mean_rounding(type.dtype, size, numerics) : 0);
      });
      if (const SharedTensor result = result_of(op, by, collective.members[node.index()]))
        bound = settled_sums(std::move(bound), *result, terms, carried);
    }
    return bound;
  }

  /// Returns the result of a collective; null if nothing waits for it.
  SharedTensor result_of(const Op& op, OpRun by, LogicalId device) const {
    if (made_)
      return value(op.results.front(), by, device);
    const std::optional<ValueId> result = known_->futures.result(op);
    return result ? value(*result, by, device) : nullptr;
  }

  const OtherRun* other() const { return known_ ? known_->other : nullptr; }

  /// Returns whether both runs have the same results, bit for bit: all of them, or none.
  bool has_same_bits(const Op& op) const {
    return other() != nullptr && !op.results.empty() &&
           other()->same_bits[op.results.front().index()];
  }

  /// Returns `bound`, but 0 for each integer and pred that is the same in both runs.
  Tensor where_alike(ValueId value, LogicalId device, Tensor bound) const {
    if (other() == nullptr || is_inexact(program_.value(value).type.dtype))
      return bound;
    const std::optional<Tensor>& one = known_->values.at(value, device);
    const std::optional<Tensor>& two = other()->values.at(value, device);
    if (!one || !two)
      return bound;
    const size_t size = static_cast<size_t>(itemsize(one->dtype()).count());
    const std::span<double> bounds = bound.as<double>();
    for (size_t i = 0; i < bounds.size(); ++i)
      if (std::memcmp(one->bytes().data() + i * size, two->bytes().data() + i * size, size) == 0)
        bounds[i] = 0;
    return bound;
  }

  /// Returns the operand that a member gives; nothing if it gives none, or has not entered.
  static std::optional<ExchangedOperand> given(const Entered& member) {
    return member.op == nullptr ? std::nullopt : given_operand(*member.op, member.values);
  }

  /// Returns the magnitudes of the operands of a group, in rank order. They are made once.
  std::vector<const Tensor*> sizes(const Op& op, Running& running) const {
    if (running.sizes.empty())
      for (const Entered& member : running.members) {
        const std::optional<ExchangedOperand> operand = given(member);
        running.sizes.push_back(operand
                                    ? magnitudes(operand->tensor())
                                    : Tensor(Dtype::F64, exchanged_operand(program_, op).shape));
      }
    std::vector<const Tensor*> result;
    for (const Tensor& tensor : running.sizes)
      result.push_back(&tensor);
    return result;
  }

  const Program& program_;
  const Lowered& lowered_;
  const RoundedBy rounded_by_;
  std::optional<Known> known_;       // either these values,
  std::optional<HostVisitor> made_;  // or these
  const LocalBounds local_;
  LiveValues bounds_;
  RunTable<Running> running_;
};

}  // namespace

DeviceValues error_bounds(const Program& program, const Lowered& lowered,
                          const DeviceValues& values, RoundedBy rounded_by, const OtherRun* other) {
  Bounds bounds(program, lowered, values, rounded_by, other);
  walk(program, lowered, bounds);
  return bounds.take();
}

DeviceValues error_bounds_of_run(const Program& program, const Lowered& lowered,
                                 DeviceValues arguments, HostKernels kernels) {
  Bounds bounds(program, lowered, std::move(arguments), kernels);
  walk(program, lowered, bounds);
  return bounds.take();
}

}  // namespace orrery
