#include "verifier/definition/bounds.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/program/futures.h"
#include "models/program/op_rules.h"
#include "models/program/rules.h"
#include "models/program/sides.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/schedule/program_walk.h"
#include "simulator/schedule/walk.h"
#include "simulator/values/exchanged_operand.h"
#include "verifier/definition/bound_tensor.h"
#include "verifier/definition/definitions.h"
#include "verifier/definition/local_bounds.h"
#include "verifier/definition/rounding.h"

namespace orrery {

namespace {

class Bounds : public NoVisitor {
 public:
  Bounds(const Program& program, const Lowered& lowered, const DeviceValues& values,
         RoundedBy rounded_by, const OtherRun* other)
      : program_(program),
        lowered_(lowered),
        lists_(program, lowered),
        values_(values),
        rounded_by_(rounded_by),
        other_(other),
        futures_(program),
        local_(program, rounded_by),
        bounds_(program) {
    for (const Argument& argument : program.arguments)
      for (uint32_t d = 0; d < program.mesh.devices(); ++d)
        if (const std::optional<Tensor>& value = values.at(argument.value, LogicalId(d)))
          bounds_.at(argument.value, LogicalId(d)) = Tensor(Dtype::F64, value->shape());
  }

  DeviceValues take() { return std::move(bounds_); }

  void local(OpRun run, LogicalId device) {
    const OpId id = run.op;
    const Op& op = program_.op(id);
    if (!op.results.empty() && !bounds_.has(device, op.results.front()))
      return;
    if (has_same_bits(op)) {
      for (const ValueId result : op.results)
        bounds_.at(result, device) = Tensor(Dtype::F64, program_.value(result).type.shape);
      return;
    }
    LocalValues of;
    const Tensor nothing(Dtype::F64, Shape());  // of an operand that the device lacks
    for (const ValueId operand : op.operands) {
      const bool has = bounds_.has(device, operand);
      of.operands.push_back(has ? &*values_.at(operand, device) : &nothing);
      of.errors.push_back(has ? &*bounds_.at(operand, device) : &nothing);
    }
    for (const ValueId result : op.results)
      of.results.push_back(&*values_.at(result, device));
    std::vector<Tensor> bounds = local_.of(op, device, of);
    for (size_t r = 0; r < op.results.size(); ++r)
      bounds_.at(op.results[r], device) = where_alike(op.results[r], device, std::move(bounds[r]));
  }

  void exit(CollectiveRun run, Node node, OpRun by) {
    const CollectiveId id = run.collective;
    const OpId op_id = by.op;
    const Collective& collective = lowered_.collective(id);
    const LogicalId device = collective.members[node.index()];
    const Op& op = program_.op(op_id);
    const ValueType& type = program_.value(op.results.front()).type;
    if (!takes_result(op) || has_same_bits(op))
      return set(op, device, Tensor(Dtype::F64, type.shape));
    const Shape given_shape = exchanged_operand(program_, op).shape;
    const auto op_of = [&](size_t r) { return &program_.op(lists_.op(id, Node(r))); };
    const auto bound_of = [&](size_t r, ValueId operand) -> const Tensor* {
      const std::optional<Tensor>& known = bounds_.at(operand, collective.members[r]);
      return known ? &*known : nullptr;  // a wrong schedule may end before a member has its operand
    };
    const auto has_exact_tables = [&](size_t r) {
      const auto tables = std::span(op_of(r)->operands).subspan(given_by(*op_of(r)).size());
      return std::ranges::all_of(tables, [&](ValueId table) {
        const Tensor* const bound = bound_of(r, table);
        return bound == nullptr || all_zero(*bound);
      });
    };
    const GroupOperands given_bounds(program_, op, collective.members.size(), Dtype::F64, op_of,
                                     bound_of);
    std::vector<const Tensor*> errors = given_bounds.tensors();
    bool exact_tables = true;
    for (size_t r = 0; r < collective.members.size(); ++r)
      exact_tables = exact_tables && has_exact_tables(r);
    if (!exact_tables) {  // the slices might be others
      Tensor unknown(Dtype::F64, type.shape);
      std::ranges::fill(unknown.as<double>(), kNoBound);
      return set(op, device, std::move(unknown));
    }
    const Numerics numerics = rounded_by_ == RoundedBy::Xla
                                  ? Numerics::XlaCpu
                                  : op_folding(program_, op, collective.work).numerics;
    std::vector<Tensor> of_taken;
    if (numerics == Numerics::XlaCpu) {
      of_taken.reserve(errors.size());
      for (size_t r = 0; r < errors.size(); ++r)
        if (const auto value = given(id, Node(r)))
          errors[r] = &of_taken.emplace_back(taken_with_error(value->tensor(), *errors[r]).error);
    }
    const auto count = static_cast<uint32_t>(collective.members.size());
    const Definition definition =
        define(op, given_shape, count, Rank(node.index()), tables_of(lowered_, collective));
    if (!is_inexact(type.dtype)) {
      Definition of_errors = definition;
      of_errors.leaving = Leaving::Same;
      if (definition.combine != Combine::None)
        of_errors.combine = Combine::Max;
      set(op, device, exact_or_unknown(apply(of_errors, errors, Dtype::F64, type.shape)));
      return;
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
      const Tensor terms = apply(definition, sizes(id), Dtype::F64, type.shape);
      const Tensor carried = bound;
      bound = each(std::move(bound), [&](double error, size_t i) {
        const double size = terms.as<double>()[i];
        const double sum =
            exact ? format.unit_roundoff * size : sum_error(type.dtype, count, size, numerics);
        return error + sum + (mean ? mean_rounding(type.dtype, size, numerics) : 0);
      });
      const std::optional<ValueId> result = futures_.result(op);
      if (result && values_.at(*result, device))
        bound = settled_sums(std::move(bound), *values_.at(*result, device), terms, carried);
    }
    set(op, device, std::move(bound));
  }

 private:
  /// Returns whether both runs have the same results, bit for bit: all of them, or none.
  bool has_same_bits(const Op& op) const {
    return other_ != nullptr && !op.results.empty() &&
           other_->same_bits[op.results.front().index()];
  }

  /// Returns `bound`, but 0 for each integer and pred that is the same in both runs.
  Tensor where_alike(ValueId value, LogicalId device, Tensor bound) const {
    if (other_ == nullptr || is_inexact(program_.value(value).type.dtype))
      return bound;
    const std::optional<Tensor>& one = values_.at(value, device);
    const std::optional<Tensor>& two = other_->values.at(value, device);
    if (!one || !two)
      return bound;
    const size_t size = static_cast<size_t>(itemsize(one->dtype()).count());
    const std::span<double> bounds = bound.as<double>();
    for (size_t i = 0; i < bounds.size(); ++i)
      if (std::memcmp(one->bytes().data() + i * size, two->bytes().data() + i * size, size) == 0)
        bounds[i] = 0;
    return bound;
  }

  /// Returns the operand that a member gives. The result is empty if it gives none, or if a wrong
  /// schedule ended before the member had it.
  std::optional<ExchangedOperand> given(CollectiveId id, Node node) const {
    const LogicalId device = lowered_.collective(id).members[node.index()];
    return given_operand(program_.op(lists_.op(id, node)), values_, device);
  }

  /// Sets the bound of a collective's result.
  void set(const Op& op, LogicalId device, Tensor bound) {
    if (const std::optional<ValueId> result = futures_.result(op))
      bound = where_alike(*result, device, std::move(bound));
    for (const ValueId value : futures_.results(op))
      bounds_.at(value, device) = bound;
    bounds_.at(op.results.front(), device) = std::move(bound);
  }

  /// Returns the magnitudes of the operands of a group, in rank order; they are made once.
  std::vector<const Tensor*> sizes(CollectiveId id) {
    const Collective& collective = lowered_.collective(id);
    std::vector<Tensor>& known = sizes_[id];
    if (known.empty())
      for (size_t r = 0; r < collective.members.size(); ++r)
        known.push_back(magnitudes(given(id, Node(r))->tensor()));
    std::vector<const Tensor*> result;
    for (const Tensor& tensor : known)
      result.push_back(&tensor);
    return result;
  }

  const Program& program_;
  const Lowered& lowered_;
  const ProgramLists lists_;
  const DeviceValues& values_;
  const RoundedBy rounded_by_;
  const OtherRun* const other_;
  const Futures futures_;
  const LocalBounds local_;
  std::map<CollectiveId, std::vector<Tensor>> sizes_;
  DeviceValues bounds_;
};

}  // namespace

DeviceValues error_bounds(const Program& program, const Lowered& lowered,
                          const DeviceValues& values, RoundedBy rounded_by, const OtherRun* other) {
  Bounds bounds(program, lowered, values, rounded_by, other);
  walk(program, lowered, bounds);
  return bounds.take();
}

}  // namespace orrery
