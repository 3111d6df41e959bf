#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/program/builder.h"
#include "models/program/states.h"
#include "models/transform/backward_pass.h"
#include "models/transform/gradients.h"
#include "models/transform/program_copy.h"

namespace orrery {

namespace {

class Transposed {
 public:
  Transposed(const Program& program, Checks checks, const TransposeRequest& request,
             Diagnostics& diagnostics)
      : program_(program), checks_(checks), request_(request), diagnostics_(diagnostics) {
    for (const Op& op : program.ops)
      if ((op.kind == OpKind::Full && op.attributes.number("fill_value").is_zero()) ||
          (is_cast(op.kind) && zeros_.contains(op.operands.front())))
        zeros_.insert(op.results.front());
  }

  Program run() {
    constexpr Differentiated kNumbers = Differentiated::Numbers;
    of_ = named_results(program_, request_.of, kNumbers, diagnostics_);
    arguments_ = named_arguments(program_, request_.with_respect_to, kNumbers, diagnostics_);
    check_cotangents_unused(program_, request_.of, diagnostics_);
    check_cotangents_unused(program_, request_.with_respect_to, diagnostics_);
    if (!diagnostics_.empty())
      return program_;
    linear_ = dependents(program_, arguments_, kNumbers);
    check_linear();
    if (!diagnostics_.empty())
      return program_;

    Diagnostics refused("");
    std::vector<OpRequest> backward;
    std::map<std::string, std::string> results;
    try {
      ProgramBuilder draft(program_.mesh, checks_, refused);
      add_others(draft, all_ops());
      refused.throw_if_any();
      UnusedNames names(program_);
      BackwardNeeds no_loops(program_);
      BackwardPass pass(program_, checks_, draft, refused, names, no_loops);
      results = go_back(pass);
      for (const ProgramPart& part : pass.added())
        backward.push_back(std::get<OpRequest>(part));
    } catch (const InputError& error) {
      report_refused(error, diagnostics_);
    }
    if (!diagnostics_.empty())
      return program_;
    ProgramBuilder builder(program_.mesh, checks_, diagnostics_);
    const std::set<OpId> kept = read_by(backward);
    add_others(builder, kept);
    for (OpRequest& op : backward)
      builder.op(std::move(op));
    for (const auto& [name, value] : results)
      builder.name_also(value, name, request_.origin);
    name_what_is_kept(builder, kept);
    return builder.finish();
  }

 private:
  bool is_linear(ValueId value) const { return linear_[value.index()]; }

  bool has_linear(const Op& op) const {
    return std::any_of(op.operands.begin(), op.operands.end(),
                       [&](ValueId operand) { return is_linear(operand); });
  }

  void check_linear() {
    for (size_t i = 0; i < of_.size(); ++i)
      if (!is_linear(of_[i]))
        diagnostics_.add(request_.of[i].origin,
                         fmt::format("expected a value that depends on \"with_respect_to\", got "
                                     "\"{}\"",
                                     request_.of[i].name));
    const std::set<OpId> reached = before(of_);
    for (const OpId id : reached)
      if (const std::optional<std::string> error = linearity_error(program_.op(id)))
        diagnostics_.add(program_.op(id).origin.value_or(request_.origin),
                         fmt::format("expected an op that is linear in what depends on "
                                     "\"with_respect_to\", got \"{}\": {}",
                                     program_.op(id).name, *error));
  }

  /// Returns the ops of which the values are made.
  std::set<OpId> before(const std::vector<ValueId>& values) const {
    std::vector<bool> needed(program_.values.size(), false);
    for (const ValueId value : values)
      needed[value.index()] = true;
    std::set<OpId> ops;
    for (size_t i = program_.ops.size(); i-- > 0;) {
      const Op& op = program_.ops[i];
      if (std::none_of(op.results.begin(), op.results.end(),
                       [&](ValueId result) { return needed[result.index()]; }))
        continue;
      ops.insert(OpId(i));
      for (const ValueId operand : op.operands)
        needed[operand.index()] = true;
    }
    return ops;
  }

  std::optional<std::string> linearity_error(const Op& op) const {
    if (!has_linear(op) || op.kind == OpKind::Done || op.kind == OpKind::OptimizationBarrier)
      return std::nullopt;
    std::vector<size_t> positions;
    for (size_t k = 0; k < op.operands.size(); ++k)
      if (is_linear(op.operands[k]))
        positions.push_back(k);
    const std::string_view name = rules(op.kind).name;
    const ValueType& from = program_.value(op.operands[positions.front()]).type;
    const ValueType& to = program_.value(op.results.front()).type;
    const bool arrays = !from.token && !to.token;
    if (arrays && is_inexact(from.dtype) != is_inexact(to.dtype))
      return fmt::format("{} from {} to {} is not linear", name, orrery::name(from.dtype),
                         orrery::name(to.dtype));
    const auto not_in = [&](std::string_view where) {
      return fmt::format("{} is not linear in {}", name, where);
    };
    if (op.kind == OpKind::Take && op.attributes.has("fill_value") &&
        !op.attributes.number("fill_value").is_zero())
      return fmt::format("{} is not linear with a fill_value that is not 0", name);
    switch (rules(op.kind).transforms.linear_in) {
      case LinearIn::None:
        return fmt::format("{} is not linear", name);
      case LinearIn::OneEach:
        return positions.size() == 1 ? std::nullopt
                                     : std::optional(not_in("both operands together"));
      case LinearIn::First:
        return positions.back() == 0 ? std::nullopt
                                     : std::optional(not_in("another operand than the first"));
      case LinearIn::All:
        return affine_error(op, 0, op.operands.size());
      case LinearIn::Cases:
        return positions.front() == 0 ? std::optional(not_in("its first operand"))
                                      : affine_error(op, 1, op.operands.size());
      case LinearIn::Data:
        return positions.back() > 1 ? std::optional(not_in("an operand after the second"))
                                    : affine_error(op, 0, 2);
    }
    fail_check("linear_in is an enumerator", "an op is linear as one of the enumeration", __FILE__,
               __LINE__);
  }

  /// Returns the error of an op if an operand of [first, end) is neither linear nor zeros.
  std::optional<std::string> affine_error(const Op& op, size_t first, size_t end) const {
    for (size_t k = first; k < end; ++k)
      if (!is_linear(op.operands[k]) && !zeros_.contains(op.operands[k]))
        return fmt::format(
            "its operand \"{}\" does not depend on them, and is no constant of zeros",
            program_.value(op.operands[k]).name);
    return std::nullopt;
  }

  static bool is_cast(OpKind kind) {
    return kind == OpKind::Pcast ||
           std::any_of(kStateCasts.begin(), kStateCasts.end(),
                       [&](const StateCast& cast) { return cast.kind == kind; });
  }

  std::set<OpId> all_ops() const {
    std::set<OpId> ops;
    for (size_t i = 0; i < program_.ops.size(); ++i)
      if (!has_linear(program_.ops[i]))
        ops.insert(OpId(i));
    return ops;
  }

  /// Returns the ops that the given ops read, directly or not.
  std::set<OpId> read_by(const std::vector<OpRequest>& ops) const {
    const std::map<std::string_view, ValueId> values = values_by_name(program_);
    std::vector<ValueId> read;
    for (const OpRequest& op : ops)
      for (const std::string& operand : op.operands)
        if (const auto value = values.find(operand); value != values.end())
          read.push_back(value->second);
    return before(read);
  }

  /// Adds the other names of the results of `ops`, and of the arguments that stay.
  void name_what_is_kept(ProgramBuilder& builder, const std::set<OpId>& ops) const {
    std::set<ValueId> kept;
    for (const Argument& argument : program_.arguments)
      if (std::find(arguments_.begin(), arguments_.end(), argument.value) == arguments_.end())
        kept.insert(argument.value);
    for (const OpId op : ops)
      kept.insert(program_.op(op).results.begin(), program_.op(op).results.end());
    for (const auto& [name, value] : program_.other_names)
      if (kept.contains(value))
        builder.name_also(program_.value(value).name, name, std::nullopt);
  }

  /// Adds the arguments that stay, the arguments of the cotangents, and `ops` to the builder.
  void add_others(ProgramBuilder& builder, const std::set<OpId>& ops) {
    for (const Argument& argument : program_.arguments) {
      const Value& value = program_.value(argument.value);
      if (std::find(arguments_.begin(), arguments_.end(), argument.value) == arguments_.end())
        builder.argument(value.name, value.type, std::nullopt, argument.on);
    }
    add_cotangents(program_, checks_, request_.of, of_, builder);
    builder.thread(program_.threads[0].name, program_.threads[0].devices);
    std::vector<Added> added;
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      const ProgramBuilder::Size begin = builder.size();
      if (ops.contains(OpId(i)))
        builder.op(request_of(program_, program_.ops[i]));
      added.push_back({begin, builder.size()});
    }
    copy_written_loops(program_, added, builder);
  }

  std::map<std::string, std::string> go_back(BackwardPass& pass) {
    for (size_t v = 0; v < linear_.size(); ++v)
      if (linear_[v])
        pass.want(ValueId(v));
    give_cotangents(request_.of, of_, pass);
    const std::vector<OpId>& order = program_.threads[0].issue_order;
    for (auto id = order.rbegin(); id != order.rend(); ++id)
      if (const std::optional<std::string> error = pass.go_back(*id))
        diagnostics_.add(program_.op(*id).origin.value_or(request_.origin),
                         fmt::format("expected an op that can be transposed, got \"{}\": {}",
                                     program_.op(*id).name, *error));
    return cotangents_of(request_.with_respect_to, arguments_, pass);
  }

  const Program& program_;
  const Checks checks_;
  const TransposeRequest& request_;
  Diagnostics& diagnostics_;
  std::vector<ValueId> of_;
  std::vector<ValueId> arguments_;
  std::set<ValueId> zeros_;   // constants, also cast to another state
  std::vector<bool> linear_;  // per value, whether it depends on the arguments
};

}  // namespace

Program transpose(const Program& program, Checks checks, const TransposeRequest& request,
                  Diagnostics& diagnostics) {
  const std::optional<Program> straight = straightened(
      program, request.most_ops, "a transpose needs them", request.origin, diagnostics);
  return straight ? Transposed(*straight, checks, request, diagnostics).run() : program;
}

}  // namespace orrery
