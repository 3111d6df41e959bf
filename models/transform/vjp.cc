#include "models/transform/vjp.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/program/builder.h"
#include "models/program/did_you_mean.h"
#include "models/transform/backward_pass.h"
#include "models/transform/program_copy.h"

namespace orrery {

namespace {

bool is_differentiable(Dtype dtype) {
  return is_float(dtype);
}

/// The values of `named` by their ids; adds an error for each name that has none.
std::vector<ValueId> found(const Program& program, const std::vector<NamedAt>& named,
                           std::string_view what, bool arguments, Diagnostics& diagnostics) {
  std::vector<std::string_view> known;
  std::map<std::string_view, ValueId> values;
  if (arguments) {
    for (const Argument& argument : program.arguments)
      values.emplace(program.value(argument.value).name, argument.value);
  } else {
    values = values_by_name(program);
  }
  for (const auto& [name, value] : values)
    known.push_back(name);
  std::vector<ValueId> ids;
  for (const NamedAt& each : named) {
    const auto value = values.find(each.name);
    if (value == values.end()) {
      diagnostics.add(each.origin, fmt::format("expected {}, got \"{}\"{}", what, each.name,
                                               did_you_mean(each.name, known)));
      continue;
    }
    const ValueType& type = program.value(value->second).type;
    if (!is_differentiable(type.dtype) || type.future)
      diagnostics.add(each.origin, fmt::format("expected {} of floats, got \"{}\", {}", what,
                                               each.name, text(type, program.mesh)));
    ids.push_back(value->second);
  }
  return ids;
}

/// The values that depend on one of `arguments` in a way that a gradient passes.
std::set<ValueId> dependents(const Program& program, const std::vector<ValueId>& arguments) {
  std::set<ValueId> all(arguments.begin(), arguments.end());
  for (const Op& op : program.ops)
    if (std::any_of(op.operands.begin(), op.operands.end(),
                    [&](ValueId operand) { return all.contains(operand); }))
      for (const ValueId result : op.results)
        if (is_differentiable(program.value(result).type.dtype))
          all.insert(result);
  return all;
}

bool can_start(const OpRequest& op) {
  return rules(op.kind).family == Family::Collective && !over_no_axes(op.attributes);
}

/// Ops of which the collectives are started on stream 1: each as soon as its operand is made, if
/// that is not by a collective too. It is done just before the first op that reads it, or at the
/// end.
class Overlapped {
 public:
  explicit Overlapped(const std::vector<OpRequest>& ops) {
    std::map<std::string, size_t> makers;
    std::vector<std::vector<size_t>> starting(ops.size() + 1);  // after so many ops
    for (size_t i = 0; i < ops.size(); ++i) {
      size_t ready = 0;
      for (const std::string& operand : ops[i].operands)
        if (const auto maker = makers.find(operand); maker != makers.end())
          ready = std::max(ready, can_start(ops[maker->second]) ? i : maker->second + 1);
      if (can_start(ops[i]))
        starting[ready].push_back(i);
      for (size_t r = 0; r <= ops[i].other_results.size(); ++r)
        makers.emplace(ops[i].result_name(r), i);
    }
    for (size_t i = 0; i <= ops.size(); ++i) {
      for (const size_t each : starting[i])
        start(ops[each]);
      if (i < ops.size() && !can_start(ops[i]))
        add(ops[i]);
    }
    for (const std::string& name : order_)
      end(name);
  }

  std::vector<OpRequest> take() { return std::move(ops_); }

 private:
  void add(OpRequest op) {
    for (const std::string& operand : op.operands)
      end(operand);
    ops_.push_back(std::move(op));
  }

  void start(OpRequest op) {
    OpRequest done;
    done.name = op.name;
    done.kind = OpKind::Done;
    op.name += ".start";
    done.operands = {op.name};
    op.issue = Issue::Start;
    op.attributes.set("stream", int64_t{1});
    order_.push_back(done.name);
    add(std::move(op));
    open_.emplace(order_.back(), std::move(done));
  }

  void end(const std::string& name) {
    const auto found = open_.find(name);
    if (found == open_.end())
      return;
    ops_.push_back(std::move(found->second));
    open_.erase(found);
  }

  std::vector<OpRequest> ops_;
  std::map<std::string, OpRequest> open_;  // the ends of those that run, by their results
  std::vector<std::string> order_;         // of the starts
};

class Vjp {
 public:
  Vjp(const Program& program, Checks checks, const VjpRequest& request, Diagnostics& diagnostics)
      : program_(program), checks_(checks), request_(request), diagnostics_(diagnostics) {}

  Program run() {
    if (!is_straight(program_, request_.origin, diagnostics_))
      return unchanged();
    of_ = found(program_, request_.of, "the id of a value", false, diagnostics_);
    arguments_ =
        found(program_, request_.with_respect_to, "the name of an array", true, diagnostics_);
    const std::vector<OpId> again = recomputed();
    if (!diagnostics_.empty())
      return unchanged();

    Diagnostics in_draft("");
    ProgramBuilder draft(program_.mesh, checks_, in_draft);
    add_forward(draft);
    BackwardPass pass(program_, checks_, draft);
    for (const OpId op : again)
      pass.recompute(op);
    const std::map<std::string, std::string> results = go_back(pass);
    if (!diagnostics_.empty())
      return unchanged();
    ORRERY_CHECK(in_draft.empty(), "the ops of a backward pass are valid");

    ProgramBuilder builder(program_.mesh, checks_, diagnostics_);
    add_forward(builder);
    for (const OpRequest& op : request_.overlap ? Overlapped(pass.added()).take() : pass.added())
      builder.op(op);
    for (const auto& [name, value] : results)
      builder.name_also(value, name, request_.origin);
    return builder.finish();
  }

 private:
  /// What is given back after an error.
  Program unchanged() const { return program_; }

  std::vector<OpId> recomputed() {
    std::vector<OpId> ops;
    std::set<std::string_view> unknown;
    for (const NamedAt& each : request_.recompute)
      unknown.insert(each.name);
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      const Op& op = program_.ops[i];
      const bool named = unknown.erase(op.name) > 0;
      if ((named || request_.recompute_all) && !op.results.empty() && op.issue == Issue::Sync)
        ops.emplace_back(i);
    }
    for (const NamedAt& each : request_.recompute)
      if (unknown.contains(each.name))
        diagnostics_.add(each.origin,
                         fmt::format("expected the id of an op, got \"{}\"", each.name));
    return ops;
  }

  /// The arguments, those of cotangents too, and the ops of the forward pass.
  void add_forward(ProgramBuilder& builder) {
    copy_arguments(program_, builder);
    for (size_t i = 0; i < of_.size(); ++i) {
      ValueType type = cotangent_type(program_.value(of_[i]).type);
      if (checks_ == Checks::Shapes)  // no state is known
        std::fill(type.axes.begin(), type.axes.end(), AxisState::Varying);
      builder.argument("ct_" + request_.of[i].name, std::move(type), request_.of[i].origin);
    }
    builder.thread(program_.threads[0].name, program_.threads[0].devices);
    for (const OpId op : program_.threads[0].issue_order)
      builder.op(request_of(program_, program_.op(op)));
  }

  /// The cotangents of the arguments, by the names that they get.
  std::map<std::string, std::string> go_back(BackwardPass& pass) {
    for (const ValueId value : dependents(program_, arguments_))
      pass.want(value);
    for (size_t i = 0; i < of_.size(); ++i)
      if (pass.wants(of_[i]))
        pass.add_cotangent(of_[i], "ct_" + request_.of[i].name);
    const std::vector<OpId>& order = program_.threads[0].issue_order;
    for (auto id = order.rbegin(); id != order.rend(); ++id)
      if (const auto error = pass.go_back(*id))
        diagnostics_.add(program_.op(*id).origin.value_or(request_.origin),
                         fmt::format("expected an op that has a gradient between the values of "
                                     "\"with_respect_to\" and \"of\", got \"{}\": {}",
                                     program_.op(*id).name, *error));
    std::map<std::string, std::string> results;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const std::string name = "ct_" + request_.with_respect_to[i].name;
      pass.name_after(request_.with_respect_to[i].name + ".bwd");
      const auto cotangent = pass.cotangent(arguments_[i]);
      results[name] = cotangent ? *cotangent : pass.zeros(program_.value(arguments_[i]).type);
    }
    return results;
  }

  const Program& program_;
  const Checks checks_;
  const VjpRequest& request_;
  Diagnostics& diagnostics_;
  std::vector<ValueId> of_;
  std::vector<ValueId> arguments_;
};

}  // namespace

ValueType cotangent_type(ValueType type) {
  for (AxisState& state : type.axes)
    if (state == AxisState::Unreduced || state == AxisState::Reduced)
      state = state == AxisState::Unreduced ? AxisState::Reduced : AxisState::Unreduced;
  type.future = false;
  return type;
}

Program vjp(const Program& program, Checks checks, const VjpRequest& request,
            Diagnostics& diagnostics) {
  return Vjp(program, checks, request, diagnostics).run();
}

}  // namespace orrery
