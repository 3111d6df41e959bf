#include "models/transform/vjp.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/program/builder.h"
#include "models/transform/backward_pass.h"
#include "models/transform/program_copy.h"

namespace orrery {

namespace {

/// It holds the ops with their collectives started on stream 1. A collective starts as soon as its
/// operands are made; if a collective makes one, it starts where it stands. Its done comes just
/// before the first op that reads it, or at the end. Collectives that are computed again run where
/// they stand: if they started early, their results would live as long as kept ones.
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
  /// Returns whether the op may start early. A transfer runs where it stands: its two halves are
  /// ops of their own, which in another order could wait for each other.
  bool can_start(const OpRequest& op) const {
    return rules(op.kind).family == Family::Collective && rules(op.kind).form.side == Side::Both &&
           !over_no_axes(op.attributes) && op.pass != Pass::Again;
  }

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
    done.origin = op.origin;
    done.pass = op.pass;
    done.forward = op.forward;
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
  std::vector<std::string> order_;         // in which the starts come
};

class Vjp {
 public:
  Vjp(const Program& program, Checks checks, const VjpRequest& request, Diagnostics& diagnostics)
      : program_(program), checks_(checks), request_(request), diagnostics_(diagnostics) {}

  Program run() {
    of_ = named_results(program_, request_.of, Differentiated::Inexact, diagnostics_);
    arguments_ =
        named_arguments(program_, request_.with_respect_to, Differentiated::Inexact, diagnostics_);
    check_cotangents_unused(program_, request_.of, diagnostics_);
    check_cotangents_unused(program_, request_.with_respect_to, diagnostics_);
    const std::vector<OpId> again = recomputed();
    if (!diagnostics_.empty())
      return unchanged();

    Diagnostics refused("");
    std::vector<OpRequest> backward;
    std::map<std::string, std::string> results;
    try {
      ProgramBuilder draft(program_.mesh, checks_, refused);
      add_forward(draft);
      refused.throw_if_any();
      BackwardPass pass(program_, checks_, draft, refused);
      for (const OpId op : again)
        pass.recompute(op);
      results = go_back(pass);
      backward = pass.added();
    } catch (const InputError& error) {
      report_refused(error, diagnostics_);
    }
    if (!diagnostics_.empty())
      return unchanged();

    ProgramBuilder builder(program_.mesh, checks_, diagnostics_);
    add_forward(builder);
    if (request_.overlap)
      backward = Overlapped(backward).take();
    for (OpRequest& op : backward)
      builder.op(std::move(op));
    for (const auto& [name, value] : results)
      builder.name_also(value, name, request_.origin);
    return builder.finish();
  }

 private:
  /// Returns the program as it was, after an error.
  Program unchanged() const { return program_; }

  std::vector<OpId> recomputed() const {
    return request_.recompute_all ? all_recomputed_ops(program_)
                                  : recomputed_ops(program_, request_.recompute, diagnostics_);
  }

  /// Adds the arguments, those of cotangents too, and the ops of the forward pass.
  void add_forward(ProgramBuilder& builder) {
    copy_arguments(program_, builder);
    add_cotangents(program_, checks_, request_.of, of_, builder);
    builder.thread(program_.threads[0].name, program_.threads[0].devices);
    std::vector<ProgramBuilder::Size> begins;
    for (const OpId op : program_.threads[0].issue_order) {
      begins.push_back(builder.size());
      builder.op(request_of(program_, program_.op(op)));
    }
    begins.push_back(builder.size());
    copy_written_loops(program_, begins, builder);
    for (const auto& [name, value] : program_.other_names)
      builder.name_also(program_.value(value).name, name, std::nullopt);
  }

  /// Returns the cotangents of the arguments, by the names that they get.
  std::map<std::string, std::string> go_back(BackwardPass& pass) {
    const std::vector<bool> wanted = dependents(program_, arguments_, Differentiated::Inexact);
    for (size_t v = 0; v < wanted.size(); ++v)
      if (wanted[v])
        pass.want(ValueId(v));
    give_cotangents(request_.of, of_, pass);
    const std::vector<OpId>& order = program_.threads[0].issue_order;
    for (auto id = order.rbegin(); id != order.rend(); ++id)
      if (const auto error = pass.go_back(*id))
        diagnostics_.add(program_.op(*id).origin.value_or(request_.origin),
                         fmt::format("expected an op that has a gradient between the values of "
                                     "\"with_respect_to\" and \"of\", got \"{}\": {}",
                                     program_.op(*id).name, *error));
    return cotangents_of(request_.with_respect_to, arguments_, pass);
  }

  const Program& program_;
  const Checks checks_;
  const VjpRequest& request_;
  Diagnostics& diagnostics_;
  std::vector<ValueId> of_;
  std::vector<ValueId> arguments_;
};

}  // namespace

Program vjp(const Program& program, Checks checks, const VjpRequest& request,
            Diagnostics& diagnostics) {
  const std::optional<Program> straight =
      straightened(program, request.most_ops, request.origin, diagnostics);
  return straight ? Vjp(*straight, checks, request, diagnostics).run() : program;
}

}  // namespace orrery
