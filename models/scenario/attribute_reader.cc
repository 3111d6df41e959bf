#include <limits>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/program/rules.h"
#include "models/scenario/fields.h"
#include "models/scenario/program_reader.h"

namespace orrery {

namespace {

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

/// [[lhs contracting, rhs contracting], [lhs batch, rhs batch]].
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

/// {"flops": "2 TFLOP", "bytes": "1 GiB"}
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

/// Requires a kind that is no amount.
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
      break;
  }
  fail_check("no amount", "amounts are read with their keys", __FILE__, __LINE__);
}

/// Of the parameters that are amounts, which are named for their base unit.
std::optional<Dimension> dimension_of(ParameterKind kind) {
  if (kind == ParameterKind::FlopCount)
    return Dimension::Work;
  if (kind == ParameterKind::ByteCount)
    return Dimension::Size;
  return std::nullopt;
}

}  // namespace

std::optional<DocumentNode> find_parameter(Fields& fields, const Parameter& parameter) {
  const std::optional<Dimension> dimension = dimension_of(parameter.kind);
  return dimension ? fields.find_quantity(parameter.name, *dimension)
                   : fields.optional(parameter.name);
}

std::optional<Attribute> read_parameter(Fields& fields, const Parameter& parameter,
                                        Diagnostics& diagnostics) {
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

}  // namespace orrery
