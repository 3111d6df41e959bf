#include <limits>

#include <fmt/format.h>

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

/// With a unit, or a whole number of base units: these keys are named for their unit.
std::optional<int64_t> read_amount(DocumentNode node, Dimension dimension,
                                   Diagnostics& diagnostics) {
  if (node.kind() != DocumentNode::Kind::Number)
    return read_quantity(node, dimension, diagnostics);
  QuantityReading reading = read_count(node.number(), units(dimension).front(), dimension);
  if (!reading.count)
    diagnostics.add(node.origin(), std::move(reading.error));
  return reading.count;
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

}  // namespace

std::optional<Attribute> read_attribute(DocumentNode node, ParameterKind kind,
                                        Diagnostics& diagnostics) {
  switch (kind) {
    case ParameterKind::Boolean:
      return attribute(read_boolean(node, diagnostics));
    case ParameterKind::Integer:
      return attribute(read_integer(node, "a whole number", kAnyInteger, diagnostics));
    case ParameterKind::Number:
      return attribute(read_number(node, diagnostics));
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
    case ParameterKind::FlopCount: {
      const auto count = read_amount(node, Dimension::Work, diagnostics);
      return count ? std::optional(Attribute(Flops(*count))) : std::nullopt;
    }
    case ParameterKind::ByteCount:
      break;
  }
  const auto count = read_amount(node, Dimension::Size, diagnostics);
  return count ? std::optional(Attribute(Bytes(*count))) : std::nullopt;
}

}  // namespace orrery
