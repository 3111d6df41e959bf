#include "tests/oracle/coverage.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "models/array/dtype.h"
#include "models/program/rules.h"

namespace orrery::test {

namespace {

constexpr std::string_view kOneAxis = "one axis";
constexpr std::string_view kSeveralAxes = "several axes";
constexpr std::string_view kNoAxes = "no axes";

std::string axes_form(size_t axes) {
  return std::string(axes == 0 ? kNoAxes : axes == 1 ? kOneAxis : kSeveralAxes);
}

bool is_cast(OpKind kind) {
  return kind == OpKind::Pvary || kind == OpKind::Preduced || kind == OpKind::VaryUnreducedCast ||
         kind == OpKind::ReducedVaryCast || kind == OpKind::Pcast;
}

bool has_parameter(const OpRules& of, std::string_view name) {
  return std::any_of(of.parameters.begin(), of.parameters.end(),
                     [&](const Parameter& parameter) { return parameter.name == name; });
}

/// Returns the states from and to which a pcast leads. Requires checked states, which are the same
/// along all its axes.
std::string cast_form(const Program& program, const Op& op) {
  const std::vector<std::string>& names = op.attributes.names("axis_name");
  const ValueType& from = program.value(op.operands[0]).type;
  for (size_t a = 0; a < from.axes.size(); ++a)
    if (program.mesh.axes()[a].name == names[0])
      return fmt::format("{} to {}",
                         from.axes[a] == AxisState::Invarying ? "invarying"
                         : from.axes[a] == AxisState::Varying ? "varying"
                                                              : "reduced",
                         op.attributes.text("to"));
  return "";
}

/// Returns whether the collective also reduces over dimensions. The reader splits such a collective
/// into two ops, of which the first is named ID.local.
bool has_dimensions(const Program& program, const Op& op) {
  const std::string& operand = program.value(op.operands[0]).name;
  return operand == op.name + ".local";
}

std::vector<std::string> collective_forms(const Program& program, const Op& op) {
  std::vector<std::string> forms = {op.issue == Issue::Start ? "started" : "sync"};
  const size_t axes = op.attributes.names("axis_name").size();
  forms.push_back(axes_form(axes));
  if (has_dimensions(program, op))
    forms.emplace_back("dimensions");
  if (axes == 0)
    return forms;
  if (op.attributes.has("axis_index_groups")) {
    std::set<size_t> sizes;
    for (const std::vector<int64_t>& group : op.attributes.lists("axis_index_groups"))
      sizes.insert(group.size());
    forms.emplace_back(sizes.size() == 1 ? "equal groups" : "unequal groups");
  } else {
    forms.emplace_back("all ranks");
  }
  if (op.attributes.has("tiled"))
    forms.emplace_back(op.attributes.boolean("tiled") ? "tiled" : "untiled");
  if (op.attributes.has("to") && op.attributes.text("to") != "varying")
    forms.push_back("to " + op.attributes.text("to"));
  return forms;
}

std::vector<std::string> forms_of(const Program& program, const Op& op) {
  if (rules(op.kind).family == Family::Collective)
    return collective_forms(program, op);
  if (!is_cast(op.kind))
    return {"local"};
  const size_t axes = op.attributes.names("axis_name").size();
  std::vector<std::string> forms = {axes_form(axes)};
  if (op.kind == OpKind::Pcast && axes > 0)
    forms.push_back(cast_form(program, op));
  return forms;
}

/// Returns all forms that forms_of() may return for an op of these rules.
std::vector<std::string> all_forms(const OpRules& of) {
  const std::vector<std::string> axes = {std::string(kNoAxes), std::string(kOneAxis),
                                         std::string(kSeveralAxes)};
  if (is_cast(of.kind)) {
    std::vector<std::string> forms = axes;
    if (of.kind == OpKind::Pcast)
      for (const char* cast : {"invarying to varying", "invarying to reduced",
                               "varying to unreduced", "reduced to varying"})
        forms.emplace_back(cast);
    return forms;
  }
  if (of.family != Family::Collective)
    return {"local"};
  std::vector<std::string> forms = axes;
  for (const char* form : {"sync", "started", "all ranks"})
    forms.emplace_back(form);
  if (has_parameter(of, "axis_index_groups"))
    forms.emplace_back("equal groups");
  if (of.group_sizes == GroupSizes::Any)
    forms.emplace_back("unequal groups");
  if (has_parameter(of, "tiled"))
    forms.insert(forms.end(), {"tiled", "untiled"});
  if (has_parameter(of, "to"))
    forms.insert(forms.end(), {"to invarying", "to reduced"});
  if (of.kind == OpKind::Psum || of.kind == OpKind::Pmax || of.kind == OpKind::Pmin)
    forms.emplace_back("dimensions");
  return forms;
}

/// A corpus need not have this op, or this form of the op; if a dtype is given, only in that dtype.
struct LeftOut {
  std::string_view op;
  std::string_view form;
  std::string_view reason;
  std::optional<Dtype> dtype = {};
};
constexpr std::array kLeftOut = {
    LeftOut{"ragged_all_to_all", "", "XLA has none for the CPU"},
    LeftOut{"psend", "", "XLA has none for the CPU"},
    LeftOut{"precv", "", "XLA has none for the CPU"},
    LeftOut{"create_token", "", "a token has no elements"},
    LeftOut{"done", "", "counts as the started collective that it ends"},
    LeftOut{"compute", "", "stands for what is not written out"},
    LeftOut{"logically_stacked", "", "JaxPP's, which JAX lacks"},
    LeftOut{"mpmd_map", "", "mpmd_map_test.cc compares it with Pallas"},
    LeftOut{"dot_product_attention_vjp", "",
            "the gradients of jax.nn's are programs of transforms"},
    LeftOut{"pmean", "unequal groups", "JAX divides by the size of the first group"},
    LeftOut{"pmean", "no axes", "JAX gives f64", Dtype::Pred},
    LeftOut{"all_gather", "no axes", "gives back its operand, whatever the dtype"},
    LeftOut{"psum_scatter", "no axes", "gives back its operand, whatever the dtype"},
    LeftOut{"all_to_all", "no axes", "moves a dimension of 1 at most, whatever the dtype"},
    LeftOut{"unreduced_psum", "no axes", "gives back its operand, whatever the dtype"},
    LeftOut{"unreduced_psum_scatter", "no axes", "gives back its operand, whatever the dtype"},
    LeftOut{"all_gather_invariant", "no axes", "gives back its operand, whatever the dtype"},
    LeftOut{"all_gather_reduced", "no axes", "gives back its operand, whatever the dtype"},
    LeftOut{"pvary", "no axes", "gives back its operand, whatever the dtype"},
    LeftOut{"preduced", "no axes", "gives back its operand, whatever the dtype"},
    LeftOut{"vary_unreduced_cast", "no axes", "gives back its operand, whatever the dtype"},
    LeftOut{"reduced_vary_cast", "no axes", "gives back its operand, whatever the dtype"},
    LeftOut{"pcast", "no axes", "gives back its operand, whatever the dtype"},
    LeftOut{"psum", "dimensions", "is of the s32 that count preds on a device", Dtype::Pred},
    LeftOut{"pargmax", "several axes", "of one axis alone"},
    LeftOut{"pargmin", "several axes", "of one axis alone"},
    LeftOut{"pargmax", "no axes", "of one axis alone"},
    LeftOut{"pargmin", "no axes", "of one axis alone"},
    LeftOut{"pargmax", "equal groups", "JAX has no groups"},
    LeftOut{"pargmin", "equal groups", "JAX has no groups"},
    LeftOut{"pargmax", "unequal groups", "JAX has no groups"},
    LeftOut{"pargmin", "unequal groups", "JAX has no groups"},
    LeftOut{"ppermute", "equal groups", "JAX has no groups"},
    LeftOut{"pshuffle", "equal groups", "JAX has no groups"},
    LeftOut{"pbroadcast", "equal groups", "what runs in its place has no groups"},
    LeftOut{"unreduced_psum", "equal groups", "refused: its result has one state along an axis"},
    LeftOut{"unreduced_psum", "unequal groups", "refused: its result has one state along an axis"},
    LeftOut{"unreduced_psum_scatter", "equal groups", "refused: takes one state along an axis"},
    LeftOut{"all_gather_invariant", "equal groups", "refused: its result has one state"},
    LeftOut{"all_gather_reduced", "equal groups", "refused: its result has one state"},
};

bool is_left_out(std::string_view op, std::string_view form, std::optional<Dtype> dtype) {
  return std::any_of(kLeftOut.begin(), kLeftOut.end(), [&](const LeftOut& left) {
    return left.op == op && (left.form.empty() || left.form == form) &&
           (!left.dtype || left.dtype == dtype);
  });
}

/// Returns whether an op has a cell of this dtype, that of its first operand (dtype_of()).
bool takes(OpKind kind, Dtype dtype) {
  switch (kind) {
    case OpKind::AxisIndex:
    case OpKind::AxisSize:
      return dtype == Dtype::S32;
    case OpKind::Real:
    case OpKind::Imag:
      return is_complex(dtype);
    case OpKind::Complex:
      return dtype == Dtype::F32 || dtype == Dtype::F64;
    case OpKind::DotProductAttention:  // XLA's CPU lacks the sums that it needs of narrower floats
      return dtype == Dtype::F32 || dtype == Dtype::F64;
    case OpKind::Conj:
      return dtype == Dtype::F32 || dtype == Dtype::F64 || is_complex(dtype);
    case OpKind::Exp:
    case OpKind::Log:
    case OpKind::Sqrt:
    case OpKind::Rsqrt:
    case OpKind::Logistic:
    case OpKind::Sin:
    case OpKind::Cos:
      return is_inexact(dtype);
    case OpKind::Pmax:
    case OpKind::Pmin:
    case OpKind::Pargmax:
    case OpKind::Pargmin:
    case OpKind::Max:
    case OpKind::Min:
    case OpKind::Lt:
    case OpKind::Le:
    case OpKind::Gt:
    case OpKind::Ge:
    case OpKind::ReduceMax:
    case OpKind::ReduceMin:
      return !is_complex(dtype);
    case OpKind::PsumScatter:
    case OpKind::UnreducedPsum:  // JAX's sum of unreduced preds is a pred
    case OpKind::UnreducedPsumScatter:
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Mul:
    case OpKind::Div:
    case OpKind::Neg:
    case OpKind::ScatterAdd:
    case OpKind::ReduceSum:
    case OpKind::Iota:
      return dtype != Dtype::Pred;
    default:
      return true;
  }
}

/// Returns the dtype by which an op counts: that of the first operand that it works on, or that of
/// its result if it has no operands.
Dtype dtype_of(const Program& program, const Op& op) {
  if (op.operands.empty())
    return program.value(op.results.front()).type.dtype;
  const size_t first = op.kind == OpKind::SelectN ? 1 : 0;
  return program.value(op.operands[first]).type.dtype;
}

std::string text(const Cell& cell) {
  return fmt::format("{} {} {}", rules(cell.first.op).name, cell.first.form, name(cell.second));
}

}  // namespace

void Coverage::add(const Program& program) {
  for (const Op& op : program.ops)
    if (op.kind != OpKind::Done)
      for (std::string& form : forms_of(program, op))
        ++cells_[{{op.kind, std::move(form)}, dtype_of(program, op)}];
}

uint64_t Coverage::count(const Cell& cell) const {
  const auto found = cells_.find(cell);
  return found == cells_.end() ? 0 : found->second;
}

uint64_t Coverage::least() const {
  uint64_t least = UINT64_MAX;
  for (const Cell& cell : required_cells())
    least = std::min(least, count(cell));
  return least;
}

std::vector<std::string> Coverage::below(uint64_t least) const {
  std::vector<std::string> texts;
  for (const Cell& cell : required_cells())
    if (count(cell) < least)
      texts.push_back(fmt::format("{}: {}", text(cell), count(cell)));
  return texts;
}

std::string Coverage::table() const {
  std::map<Row, std::map<Dtype, uint64_t>> rows;
  for (const Cell& cell : required_cells())
    rows[cell.first][cell.second] = 0;
  for (const auto& [cell, count] : cells_)
    rows[cell.first][cell.second] = count;
  std::string table = fmt::format("{:24}{:22}", "op", "form");
  for (const Dtype dtype : all_dtypes())
    table += fmt::format("{:>10}", name(dtype));
  for (const auto& [row, counts] : rows) {
    table += fmt::format("\n{:24}{:22}", rules(row.op).name, row.form);
    for (const Dtype dtype : all_dtypes()) {
      const auto found = counts.find(dtype);
      table += fmt::format("{:>10}", found == counts.end() ? "-" : std::to_string(found->second));
    }
  }
  return table + fmt::format("\n{} cells are required; the least count of one is {}.\n",
                             required_cells().size(), least());
}

std::vector<Cell> required_cells() {
  std::vector<Cell> cells;
  for (const OpRules& of : all_rules())
    for (const std::string& form : all_forms(of))
      for (const Dtype dtype : all_dtypes())
        if (takes(of.kind, dtype) && !is_left_out(of.name, form, dtype))
          cells.push_back({{of.kind, form}, dtype});
  return cells;
}

namespace {

/// A `LeftOutOf` is an op for which we have a gradient or a batch, but JAX or every corpus has
/// none.
struct LeftOutOf {
  TransformCoverage::Transform transform;
  std::string_view op;
  std::string_view reason;
};
constexpr auto kVjp = TransformCoverage::Transform::Vjp;
constexpr auto kBatch = TransformCoverage::Transform::Batch;
constexpr std::array kLeftOutOf = {
    LeftOutOf{kVjp, "pbroadcast", "JAX's gradient of it is a TypeError"},
    LeftOutOf{kBatch, "unreduced_psum", "JAX has no batch of it under shard_map"},
    LeftOutOf{kBatch, "unreduced_psum_scatter", "JAX has no batch of it under shard_map"},
    LeftOutOf{kBatch, "preduced", "JAX has no batch of it under shard_map"},
    LeftOutOf{kBatch, "reduced_vary_cast", "JAX has no batch of it under shard_map"},
    LeftOutOf{kBatch, "vary_unreduced_cast", "JAX has no batch of it under shard_map"},
    LeftOutOf{kBatch, "all_gather_reduced", "JAX has no batch of it under shard_map"},
    LeftOutOf{kBatch, "axis_index",
              "has no operand; batched only if the batch takes its axis' place"},
    LeftOutOf{kBatch, "axis_size",
              "has no operand; batched only if the batch takes its axis' place"},
};

bool is_left_out_of(TransformCoverage::Transform transform, std::string_view op) {
  return is_left_out(op, "", {}) ||
         std::any_of(kLeftOutOf.begin(), kLeftOutOf.end(), [&](const LeftOutOf& left) {
           return left.transform == transform && left.op == op;
         });
}

bool takes_numbers(OpKind kind, bool complex) {
  return takes(kind, complex ? Dtype::C64 : Dtype::F32);
}

}  // namespace

void TransformCoverage::add(const std::vector<ForwardOp>& ops) {
  for (const ForwardOp& op : ops)
    ++counts_[{op.op, op.complex}];
}

std::vector<std::string> TransformCoverage::below(Transform transform, uint64_t least) const {
  std::vector<std::string> texts;
  for (const OpRules& of : all_rules()) {
    const bool has =
        transform == kVjp ? of.transforms.backward != nullptr : of.transforms.batch != nullptr;
    if (!has || is_left_out_of(transform, of.name))
      continue;
    uint64_t both = 0;
    for (const bool complex : {false, true}) {
      const auto found = counts_.find({of.kind, complex});
      const uint64_t count = found == counts_.end() ? 0 : found->second;
      both += count;
      if (transform == kVjp && takes_numbers(of.kind, complex) && count < least)
        texts.push_back(fmt::format("{} {}: {}", of.name, complex ? "complex" : "real", count));
    }
    if (transform == kBatch && both < least)
      texts.push_back(fmt::format("{}: {}", of.name, both));
  }
  return texts;
}

}  // namespace orrery::test
