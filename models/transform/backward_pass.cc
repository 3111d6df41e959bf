#include "models/transform/backward_pass.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/program/groups.h"
#include "models/program/loops.h"
#include "models/program/rules.h"
#include "models/transform/program_copy.h"

namespace orrery {

namespace {

class Call final : public BackwardCall {
 public:
  Call(BackwardPass& pass, const Op& op, std::vector<ValueType> results,
       std::vector<std::optional<std::string>> cotangents)
      : pass_(pass), op_(op), results_(std::move(results)), cotangents_(std::move(cotangents)) {}

  const Attributes& attributes() const override { return op_.attributes; }
  const Mesh& mesh() const override { return pass_.program().mesh; }
  bool has_states() const override { return pass_.checks() == Checks::States; }
  int64_t group_size() const override {
    return static_cast<int64_t>(pass_.program().site(*op_.site).groups.front().size());
  }

  size_t operands() const override { return op_.operands.size(); }
  const ValueType& operand_type(size_t operand) const override {
    return pass_.program().value(op_.operands[operand]).type;
  }
  const ValueType& result_type(size_t result) const override { return results_[result]; }
  bool wants(size_t operand) const override { return pass_.wants(op_.operands[operand]); }

  std::string operand(size_t operand) override { return pass_.residual(op_.operands[operand]); }
  std::string result(size_t result) override { return pass_.residual(op_.results[result]); }

  bool may_donate(size_t result) override {
    return pass_.own_cotangent(op_.results[result]).has_value();
  }
  std::optional<std::string> sum_so_far(size_t operand) override {
    const ValueId value = op_.operands[operand];
    const std::optional<std::string> own = pass_.own_cotangent(value);
    if (!own || std::count(op_.operands.begin(), op_.operands.end(), value) > 1 ||
        (has_states() && pass_.type(*own).axes != pass_.type(cotangent(0)).axes))
      return std::nullopt;
    summed_.insert(operand);
    return own;
  }
  /// Returns whether the cotangent that the rule gives for the operand is the sum of all.
  bool is_sum(size_t operand) const { return summed_.contains(operand); }

  bool has_cotangent(size_t result) const override { return cotangents_[result].has_value(); }
  std::string cotangent(size_t result) override {
    std::optional<std::string>& cotangent = cotangents_[result];
    if (!cotangent)
      cotangent = pass_.zeros(results_[result]);
    return *cotangent;
  }

  void refuse(std::string why) override { refused_ = std::move(why); }
  const std::optional<std::string>& refused() const { return refused_; }

  BackwardOps& ops() override { return pass_; }

 private:
  BackwardPass& pass_;
  const Op& op_;
  std::vector<ValueType> results_;
  std::vector<std::optional<std::string>> cotangents_;
  std::set<size_t> summed_;
  std::optional<std::string> refused_;
};

}  // namespace

BackwardPass::BackwardPass(const Program& program, Checks checks, ProgramBuilder& draft,
                           Diagnostics& refused, UnusedNames& names, BackwardNeeds& needs,
                           SavedValues saved)
    : program_(program),
      checks_(checks),
      draft_(draft),
      refused_(refused),
      names_(names),
      needs_(needs),
      saved_(std::move(saved)),
      body_(bodies_of_values(program)),
      levels_(1) {
  for (size_t i = 0; i < program.ops.size(); ++i)
    for (const ValueId result : program.ops[i].results)
      makers_.emplace(result, OpId(i));
  make_free_ops_again();
}

void BackwardPass::recompute(OpId op) {
  recomputed_.insert(op);
  for (const ValueId operand : made_by(op).operands)
    if (const auto maker = makers_.find(operand);
        program_.value(operand).type.token && maker != makers_.end())
      recompute(maker->second);
}

void BackwardPass::name_after(const std::string& name, const std::optional<Origin>& origin,
                              std::optional<OpId> forward) {
  after_ = here(own_name_of(name)) + ".bwd";
  origin_ = origin;
  forward_ = forward ? program_.op(*forward).name : std::string();
}

std::optional<OpId> BackwardPass::maker(ValueId value) const {
  const auto maker = makers_.find(value);
  return maker == makers_.end() ? std::nullopt : std::optional(maker->second);
}

void BackwardPass::add(ProgramPart part) {
  added_.push_back(part);
  add_part(std::move(part), draft_);
  refused_.throw_if_any();
}

std::vector<std::string> BackwardPass::add_op(OpKind kind, std::vector<std::string> operands,
                                              Attributes attributes,
                                              std::vector<std::string> donated, size_t results) {
  OpRequest request;
  std::vector<std::string> names;
  for (size_t i = 0; i < results; ++i)
    names.push_back(names_.take(after_));
  request.name = names.front();
  request.other_results.assign(names.begin() + 1, names.end());
  request.kind = kind;
  request.attributes = std::move(attributes);
  request.operands = std::move(operands);
  request.donated = std::move(donated);
  request.origin = origin_;
  request.pass = Pass::Backward;
  request.forward = forward_;
  for (const std::string& operand : request.operands)
    if (const auto read = readers_.find(operand); read != readers_.end())
      ++read->second;
  // Others are views, or may be: casts of states and collectives that only copy.
  if (rules(kind).family == Family::Local && rules(kind).memory != results_in_operands)
    for (const std::string& name : names)
      readers_.emplace(name, 0);
  add(std::move(request));
  return names;
}

ValueType BackwardPass::type(const std::string& value) {
  const std::optional<ValueType> type = draft_.type_of(value, origin_of(value, std::nullopt));
  ORRERY_CHECK(type.has_value(), "a backward rule makes ops that fit their operands");
  return *type;
}

std::string BackwardPass::casted(const std::string& value, OpKind kind,
                                 const std::vector<size_t>& axes) {
  if (axes.empty())
    return value;
  std::vector<std::string> names;
  for (const size_t axis : axes)
    names.push_back(program_.mesh.axes()[axis].name);
  Attributes attributes;
  attributes.set("axis_name", std::move(names));
  return op(kind, {value}, std::move(attributes));
}

std::string BackwardPass::zeros_by(decltype(add_zeros)* make, const ValueType& type) {
  return make(program_.mesh, checks_, type,
              [&](OpKind kind, std::vector<std::string> operands, Attributes attributes) {
                return op(kind, std::move(operands), std::move(attributes));
              });
}

std::string BackwardPass::zeros(const ValueType& type) {
  return zeros_by(add_zeros, cotangent_type(type));
}

/// Returns the cotangent as that of a value of the operand's type. If the operand was cast
/// implicitly, from a scalar to an array or from invarying to varying, the cast goes back.
std::string BackwardPass::fit(std::string cotangent, const ValueType& operand) {
  const size_t rank = type(cotangent).shape.rank();
  if (operand.shape.rank() == 0 && rank > 0) {
    std::vector<int64_t> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    Attributes attributes;
    attributes.set("axes", std::move(axes));
    cotangent = op(OpKind::ReduceSum, {cotangent}, std::move(attributes));
  }
  if (checks_ == Checks::Shapes)
    return cotangent;
  const AxisStates has = type(cotangent).axes;
  const AxisStates wanted = cotangent_type(operand).axes;
  std::vector<size_t> summed;
  std::vector<size_t> reduced;
  std::vector<size_t> varied;
  std::vector<size_t> unreduced;
  for (size_t axis = 0; axis < has.size(); ++axis) {
    if (has[axis] == AxisState::Varying && wanted[axis] == AxisState::Invarying)
      summed.push_back(axis);
    if (has[axis] == AxisState::Unreduced && wanted[axis] == AxisState::Invarying)
      reduced.push_back(axis);
    if (has[axis] == AxisState::Invarying && wanted[axis] == AxisState::Varying)
      varied.push_back(axis);
    if (has[axis] == AxisState::Varying && wanted[axis] == AxisState::Unreduced)
      unreduced.push_back(axis);
  }
  cotangent = casted(cotangent, OpKind::VaryUnreducedCast, unreduced);
  cotangent = casted(cotangent, OpKind::Pvary, varied);
  cotangent = casted(cotangent, OpKind::UnreducedPsum, reduced);
  return casted(cotangent, OpKind::Psum, summed);
}

void BackwardPass::hold_cotangent(ValueId value, const std::string& cotangent) {
  level().cotangents[value] = cotangent;
  if (const auto read = readers_.find(cotangent); read != readers_.end())
    ++read->second;
}

void BackwardPass::add_cotangent(ValueId value, const std::string& cotangent) {
  const std::string fitting = fit(cotangent, program_.value(value).type);
  const std::optional<std::string> earlier = this->cotangent(value);
  if (!earlier && !is_here(value)) {
    needs_.loops[*level().loop].accumulated.push_back(value);
    needs_.grew = true;
  }
  hold_cotangent(value, earlier ? op(OpKind::Add, {*earlier, fitting}, {}) : fitting);
}

std::optional<std::string> BackwardPass::cotangent(ValueId value) const {
  const auto found = level().cotangents.find(value);
  return found == level().cotangents.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> BackwardPass::own_cotangent(ValueId value) const {
  const std::optional<std::string> own = cotangent(value);
  const auto read = own ? readers_.find(*own) : readers_.end();
  return read != readers_.end() && read->second == 1 ? own : std::nullopt;
}

std::optional<std::string> BackwardPass::go_back(OpId id) {
  const Op& op = program_.op(id);
  std::vector<std::optional<std::string>> cotangents;
  for (const ValueId result : op.results)
    cotangents.push_back(cotangent(result));
  const bool reached = std::any_of(cotangents.begin(), cotangents.end(),
                                   [](const auto& each) { return each.has_value(); });
  const bool wanted = std::any_of(op.operands.begin(), op.operands.end(),
                                  [&](ValueId operand) { return wants(operand); });
  if (!reached || !wanted)
    return std::nullopt;
  name_after(op.name, op.origin, id);
  if (op.kind == OpKind::Done) {
    // The cotangent of a future is that of the value that its done gives.
    add_cotangent(op.operands.front(), *cotangents.front());
    return std::nullopt;
  }
  const BackwardRule rule = rules(op.kind).transforms.backward;
  if (rule == nullptr)
    return fmt::format("{} has no backward rule", op_name(op.kind, op.issue));
  std::vector<ValueType> results;
  for (const ValueId result : op.results) {
    results.push_back(program_.value(result).type);
    results.back().future = false;
  }
  for (const ValueId operand : op.operands)
    if (program_.value(operand).type.token && cotangent(operand))
      return fmt::format("another op takes its token \"{}\" too", program_.value(operand).name);
  Call call(*this, op, std::move(results), std::move(cotangents));
  Cotangents given;
  try {
    given = rule(call);
  } catch (const Overflow&) {
    return "its gradient has an array of 2^63 or more rows";
  }
  if (call.refused())
    return call.refused();
  ORRERY_CHECK(given.size() == op.operands.size(), "a rule gives a cotangent for each operand");
  for (size_t k = 0; k < given.size(); ++k)
    if (given[k] && call.is_sum(k))
      hold_cotangent(op.operands[k], *given[k]);
    else if (given[k] && wants(op.operands[k]))
      add_cotangent(op.operands[k], *given[k]);
  return std::nullopt;
}

ValueType cotangent_type(ValueType type) {
  for (AxisState& state : type.axes)
    if (state == AxisState::Unreduced || state == AxisState::Reduced)
      state = state == AxisState::Unreduced ? AxisState::Reduced : AxisState::Unreduced;
  type.future = false;
  return type;
}

void add_cotangents(const Program& program, Checks checks, const std::vector<NamedAt>& names,
                    const std::vector<ValueId>& values, ProgramBuilder& builder) {
  for (size_t i = 0; i < values.size(); ++i) {
    ValueType type = cotangent_type(program.value(values[i]).type);
    if (checks == Checks::Shapes)
      std::fill(type.axes.begin(), type.axes.end(), AxisState::Varying);
    builder.argument(cotangent_name(names[i]), std::move(type), names[i].origin);
  }
}

void give_cotangents(const std::vector<NamedAt>& names, const std::vector<ValueId>& values,
                     BackwardPass& pass) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!pass.wants(values[i]))
      continue;
    // The cotangents of a value that two names mean are added.
    pass.name_after(pass.program().value(values[i]).name, names[i].origin, pass.maker(values[i]));
    pass.add_cotangent(values[i], cotangent_name(names[i]));
  }
}

std::map<std::string, std::string> cotangents_of(const std::vector<NamedAt>& names,
                                                 const std::vector<ValueId>& arguments,
                                                 BackwardPass& pass) {
  std::map<std::string, std::string> results;
  for (size_t i = 0; i < arguments.size(); ++i) {
    pass.name_after(names[i].name, names[i].origin, std::nullopt);
    const std::optional<std::string> cotangent = pass.cotangent(arguments[i]);
    results[cotangent_name(names[i])] =
        cotangent ? *cotangent : pass.zeros(pass.program().value(arguments[i]).type);
  }
  return results;
}

void report_refused(const InputError& error, Diagnostics& diagnostics) {
  for (const Diagnostic& each : error.diagnostics())
    diagnostics.add(each.origin,
                    fmt::format("the backward pass has an op that is refused: {}", each.message));
}

}  // namespace orrery
