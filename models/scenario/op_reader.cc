#include "models/scenario/op_reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "models/base/characters.h"
#include "models/base/check.h"
#include "models/program/rules.h"
#include "models/scenario/fields.h"
#include "models/scenario/program_reader.h"

namespace orrery {

namespace {

struct OtherName {
  std::string_view word;
  std::string_view op;
  std::string_view how = {};  // if the op alone does not say it
};

constexpr std::string_view kOfZero =
    "relu is the \"max\" of x and a scalar 0 (\"full\" of shape [])";
constexpr std::string_view kOfZeroAndSix =
    "relu6 is the \"min\" of a scalar 6 and the \"max\" of x and a scalar 0 (\"full\" of shape [])";
constexpr std::string_view kOfBounds =
    "it is the \"min\" of an upper bound and the \"max\" of x and a lower one";
constexpr std::string_view kPairs = "its \"perm\" lists who sends to whom";

// These names are those of NCCL, MPI, XLA, PyTorch and NumPy, in lower case with underscores.
constexpr std::array kOtherNames = {
    OtherName{"allreduce", "psum"},
    OtherName{"all_reduce", "psum"},
    OtherName{"all_reduce_sum", "psum"},
    OtherName{"all_reduce_max", "pmax"},
    OtherName{"all_reduce_min", "pmin"},
    OtherName{"all_reduce_mean", "pmean"},
    OtherName{"allgather", "all_gather"},
    OtherName{"reducescatter", "psum_scatter"},
    OtherName{"reduce_scatter", "psum_scatter"},
    OtherName{"alltoall", "all_to_all"},
    OtherName{"bcast", "pbroadcast"},
    OtherName{"broadcast", "pbroadcast"},
    OtherName{"collective_broadcast", "pbroadcast"},
    OtherName{"collective_permute", "ppermute"},
    OtherName{"send", "ppermute", kPairs},
    OtherName{"recv", "ppermute", kPairs},
    OtherName{"sendrecv", "ppermute", kPairs},
    OtherName{"send_recv", "ppermute", kPairs},
    OtherName{"wait", "done"},
    OtherName{"matmul", "dot_general"},
    OtherName{"dot", "dot_general"},
    OtherName{"gemm", "dot_general"},
    OtherName{"einsum", "dot_general"},
    OtherName{"relu", "max", kOfZero},
    OtherName{"relu6", "max", kOfZeroAndSix},
    OtherName{"clip", "max", kOfBounds},
    OtherName{"clamp", "max", kOfBounds},
    OtherName{"sigmoid", "logistic"},
    OtherName{"maximum", "max"},
    OtherName{"minimum", "min"},
    OtherName{"subtract", "sub"},
    OtherName{"multiply", "mul"},
    OtherName{"divide", "div"},
    OtherName{"negative", "neg"},
    OtherName{"where", "select_n"},
    OtherName{"select", "select_n"},
    OtherName{"cast", "convert_element_type"},
    OtherName{"astype", "convert_element_type"},
    OtherName{"convert", "convert_element_type"},
    OtherName{"sum", "reduce_sum"},
    OtherName{"amax", "reduce_max"},
    OtherName{"amin", "reduce_min"},
    OtherName{"constant", "full"},
    OtherName{"zeros", "full"},
    OtherName{"ones", "full"},
    OtherName{"fill", "full"},
    OtherName{"arange", "iota"},
    OtherName{"gather", "take"},
    OtherName{"concat", "concatenate"},
    OtherName{"cat", "concatenate"},
    OtherName{"for", kLoopOp},
    OtherName{"while", kLoopOp},
    OtherName{"while_loop", kLoopOp},
    OtherName{"scan", kLoopOp},
    OtherName{"batch_isend_irecv", kGroupOp},
    OtherName{"ncclgroupstart", kGroupOp},
};

// These names stand for several ops together. "compute" replaces them if only the cost counts.
constexpr std::array<std::string_view, 14> kSeveralOps = {
    "gelu",       "silu",     "swish",      "tanh",      "softmax",  "log_softmax", "elu",
    "leaky_relu", "softplus", "layer_norm", "layernorm", "rms_norm", "rmsnorm",     "attention"};

constexpr std::string_view kStart = "_start";

constexpr IntegerRange kAnyInteger = {std::numeric_limits<int64_t>::min(),
                                      std::numeric_limits<int64_t>::max()};

template <class T>
std::optional<Attribute> attribute(std::optional<T> value) {
  if (!value)
    return std::nullopt;
  return Attribute(std::move(*value));
}

std::optional<std::vector<std::vector<int64_t>>> read_lists(DocumentNode node,
                                                            Diagnostics& diagnostics) {
  if (!is_list(node, "a list of lists of whole numbers", diagnostics))
    return std::nullopt;
  std::vector<std::vector<int64_t>> lists;
  for (const DocumentNode item : node) {
    auto list = read_integers(item, "a whole number", kAnyInteger, diagnostics);
    if (!list)
      return std::nullopt;
    lists.push_back(std::move(*list));
  }
  return lists;
}

/// Reads [[lhs contracting, rhs contracting], [lhs batch, rhs batch]].
std::optional<std::vector<std::vector<int64_t>>> read_dimension_numbers(DocumentNode node,
                                                                        Diagnostics& diagnostics) {
  constexpr std::string_view kForm = "dimension numbers such as [[[1], [0]], [[], []]]";
  std::vector<std::vector<int64_t>> lists;
  if (node.kind() == DocumentNode::Kind::List && node.size() == 2) {
    for (const DocumentNode pair : node) {
      if (pair.kind() != DocumentNode::Kind::List || pair.size() != 2)
        continue;
      auto read = read_lists(pair, diagnostics);
      if (!read)
        return std::nullopt;
      lists.insert(lists.end(), read->begin(), read->end());
    }
  }
  if (lists.size() == 4)
    return lists;
  expected(node, kForm, diagnostics);
  return std::nullopt;
}

/// Reads {"flops": "2 TFLOP", "bytes": "1 GiB"}.
std::optional<Work> read_work(DocumentNode node, Diagnostics& diagnostics) {
  if (!is_object(node, description(ParameterKind::WorkCount), diagnostics))
    return std::nullopt;
  Fields fields(node, diagnostics);
  const auto read = [&](std::string_view key, Dimension dimension) {
    if (!fields.has_quantity(key, dimension))
      (void)fields.required(key);
    return fields.optional_quantity(key, dimension, {}, BareNumber::BaseUnits);
  };
  const std::optional<int64_t> flops = read("flops", Dimension::Work);
  const std::optional<int64_t> bytes = read("bytes", Dimension::Size);
  fields.finish();
  if (!flops || !bytes)
    return std::nullopt;
  return Work{Flops(*flops), Bytes(*bytes)};
}

/// Reads a parameter. Requires a kind that is no amount.
std::optional<Attribute> read_attribute(DocumentNode node, ParameterKind kind,
                                        Diagnostics& diagnostics) {
  switch (kind) {
    case ParameterKind::Boolean:
      return attribute(read_boolean(node, diagnostics));
    case ParameterKind::Integer:
      return attribute(read_integer(node, "a whole number", kAnyInteger, diagnostics));
    case ParameterKind::Number:
      return attribute(read_number_or_pair(node, diagnostics));
    case ParameterKind::Text:
      return attribute(read_text(node, "a text", diagnostics));
    case ParameterKind::Names:
      return attribute(read_names(node, "an axis name", diagnostics));
    case ParameterKind::Integers:
      return attribute(read_integers(node, "a whole number", kAnyInteger, diagnostics));
    case ParameterKind::IntegerLists:
      return attribute(read_lists(node, diagnostics));
    case ParameterKind::DimensionNumbers:
      return attribute(read_dimension_numbers(node, diagnostics));
    case ParameterKind::DtypeName:
      return attribute(read_dtype(node, diagnostics));
    case ParameterKind::WorkCount:
      return attribute(read_work(node, diagnostics));
    case ParameterKind::FlopCount:
    case ParameterKind::ByteCount:
    case ParameterKind::Functions:
      break;
  }
  fail_check("one value", "amounts and functions are read with their keys", __FILE__, __LINE__);
}

/// Returns the dimension of a parameter that is an amount. Its name says its base unit.
std::optional<Dimension> dimension_of(ParameterKind kind) {
  if (kind == ParameterKind::FlopCount)
    return Dimension::Work;
  if (kind == ParameterKind::ByteCount)
    return Dimension::Size;
  return std::nullopt;
}

Axes axes_of(DocumentNode axis_name, OpKind collective, Diagnostics& diagnostics) {
  constexpr const char* kOne = "an axis name or a dimension (a whole number)";
  Axes axes;
  const auto add = [&](DocumentNode item) {
    if (item.kind() == DocumentNode::Kind::Number && !reduction_over_dimensions(collective)) {
      diagnostics.add(item.origin(),
                      fmt::format("expected an axis name, got {}; only psum, pmax and pmin also "
                                  "reduce over dimensions of the operand",
                                  got(item)));
    } else if (item.kind() == DocumentNode::Kind::Number &&
               item.number().find('.') == item.number().npos) {
      if (const auto dimension = read_integer(
              item, "a dimension", {0, std::numeric_limits<int64_t>::max()}, diagnostics))
        axes.dimensions.push_back(*dimension);
    } else if (auto name = read_text(item, kOne, diagnostics)) {
      axes.names.push_back(std::move(*name));
    }
  };
  if (axis_name.kind() == DocumentNode::Kind::List) {
    for (const DocumentNode item : axis_name)
      add(item);
  } else if (axis_name.kind() == DocumentNode::Kind::Number ||
             axis_name.kind() == DocumentNode::Kind::Text) {
    add(axis_name);
  } else {
    expected(axis_name, fmt::format("{}, or a list of them", kOne), diagnostics);
  }
  return axes;
}

}  // namespace

std::string op_of_other_name(std::string_view word) {
  std::string plain = in_lower_case(word);
  std::replace(plain.begin(), plain.end(), '-', '_');
  if (std::find(kSeveralOps.begin(), kSeveralOps.end(), plain) != kSeveralOps.end())
    return "write it out in other ops, or give its flops and bytes with \"compute\"";
  const bool start = plain.ends_with(kStart);
  if (start)
    plain.erase(plain.size() - kStart.size());
  for (const OtherName& other : kOtherNames) {
    if (other.word != plain)
      continue;
    const std::string op = fmt::format("{}{}", other.op, start ? kStart : "");
    if (start && !op_named(op))
      return "";
    return fmt::format("did you mean \"{}\"?{}{}", op, other.how.empty() ? "" : " ", other.how);
  }
  return "";
}

std::optional<DocumentNode> find_parameter(Fields& fields, const Parameter& parameter) {
  const std::optional<Dimension> dimension = dimension_of(parameter.kind);
  return dimension ? fields.find_quantity(parameter.name, *dimension)
                   : fields.optional(parameter.name);
}

std::optional<Attribute> read_parameter(Fields& fields, const Parameter& parameter,
                                        Diagnostics& diagnostics) {
  if (parameter.kind == ParameterKind::Functions)
    return attribute(read_core_map(fields, diagnostics));
  const std::optional<DocumentNode> node = find_parameter(fields, parameter);
  // JAX writes None for an absent parameter.
  if (node && node->kind() == DocumentNode::Kind::Null &&
      parameter.need == Parameter::Need::Optional) {
    (void)fields.optional(parameter.name);
    return std::nullopt;
  }
  const std::optional<Dimension> dimension = dimension_of(parameter.kind);
  if (!dimension)
    return node ? read_attribute(*node, parameter.kind, diagnostics) : std::nullopt;
  const auto count =
      fields.optional_quantity(parameter.name, *dimension, {}, BareNumber::BaseUnits);
  if (!count)
    return std::nullopt;
  return *dimension == Dimension::Work ? Attribute(Flops(*count)) : Attribute(Bytes(*count));
}

std::optional<OpKind> reduction_over_dimensions(OpKind collective) {
  switch (collective) {
    case OpKind::Psum:
      return OpKind::ReduceSum;
    case OpKind::Pmax:
      return OpKind::ReduceMax;
    case OpKind::Pmin:
      return OpKind::ReduceMin;
    default:
      return std::nullopt;
  }
}

bool may_have_dimensions(DocumentNode axis_name, OpKind collective) {
  if (reduction_over_dimensions(collective) || axis_name.kind() == DocumentNode::Kind::Number)
    return true;
  if (axis_name.kind() == DocumentNode::Kind::List)
    for (const DocumentNode item : axis_name)
      if (item.kind() == DocumentNode::Kind::Number)
        return true;
  return false;
}

std::optional<Axes> read_axes(DocumentNode axis_name, OpKind collective, std::string_view title,
                              Diagnostics& diagnostics) {
  Diagnostics untitled(diagnostics.file());
  Axes axes = axes_of(axis_name, collective, untitled);
  try {
    untitled.throw_if_any();
  } catch (const InputError& error) {
    for (const Diagnostic& each : error.diagnostics())
      diagnostics.add(each.origin, fmt::format("{}: {}", title, each.message));
    return std::nullopt;
  }
  return axes;
}

std::vector<OpRequest> reduced_first(OpRequest& collective, Dtype operand,
                                     std::vector<int64_t> dimensions) {
  const std::optional<OpKind> kind = reduction_over_dimensions(collective.kind);
  ORRERY_CHECK(kind.has_value(), "read_axes() has refused other collectives");
  OpRequest reduction;
  reduction.name = collective.name + ".local";
  reduction.kind = *kind;
  reduction.title = op_title(collective.kind, collective.issue, collective.name);
  reduction.operands = std::exchange(collective.operands, {reduction.name});
  reduction.donated = std::exchange(collective.donated, {});
  reduction.attributes.set("axes", std::move(dimensions));
  reduction.origin = collective.origin;
  reduction.key_origins = collective.key_origins;
  if (const auto axes = collective.key_origins.find("axis_name");
      axes != collective.key_origins.end())
    reduction.key_origins.insert_or_assign("axes", axes->second);
  std::vector<OpRequest> ops;
  if (operand == Dtype::Pred && collective.kind == OpKind::Psum) {
    OpRequest counted;
    counted.name = collective.name + ".counted";
    counted.kind = OpKind::ConvertElementType;
    counted.title = reduction.title;
    counted.operands = std::exchange(reduction.operands, {counted.name});
    counted.donated = std::exchange(reduction.donated, {});
    counted.attributes.set("new_dtype", Dtype::S32);
    counted.origin = collective.origin;
    counted.key_origins = collective.key_origins;
    ops.push_back(std::move(counted));
  }
  ops.push_back(std::move(reduction));
  return ops;
}

}  // namespace orrery
