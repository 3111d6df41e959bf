#include "models/scenario/literal.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "models/array/text.h"
#include "models/scenario/syntax.h"

namespace orrery {

namespace {

bool read_bits(DocumentNode node, Tensor& tensor, int64_t index) {
  if (node.kind() != DocumentNode::Kind::Number)
    return false;
  const std::string_view digits = node.number();
  uint64_t bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (error != std::errc() || end != digits.data() + digits.size())
    return false;
  const auto width = static_cast<unsigned>(8 * itemsize(tensor.dtype()).count());
  if (tensor.dtype() == Dtype::Pred ? bits > 1 : width < 64 && (bits >> width) != 0)
    return false;
  set_element_bits(tensor, index, bits);
  return true;
}

bool read_value(DocumentNode node, Tensor& tensor, int64_t index) {
  switch (node.kind()) {
    case DocumentNode::Kind::Number:
      return parse_element(node.number(), tensor, index);
    case DocumentNode::Kind::Boolean:
      return tensor.dtype() == Dtype::Pred &&
             parse_element(node.boolean() ? "true" : "false", tensor, index);
    case DocumentNode::Kind::Text:
      // Texts are only accepted for what JSON has no number for; "1" in quotes is a slip.
      return (node.text() == "NaN" || node.text() == "Infinity" || node.text() == "-Infinity") &&
             parse_element(node.text(), tensor, index);
    case DocumentNode::Kind::Null:
    case DocumentNode::Kind::List:
    case DocumentNode::Kind::Object:
      break;
  }
  return false;
}

/// Returns the end of the error about an element that is not of the dtype.
std::string element_hint(DocumentNode node, Dtype dtype) {
  if (!is_float(dtype))
    return "";
  if (node.kind() == DocumentNode::Kind::Text) {
    const std::string_view word = not_finite_named(node.text());
    if (word.empty())
      return "";
    return word == node.text() ? fmt::format("; {} has no infinity", name(dtype))
                               : fmt::format("; did you mean \"{}\"?", word);
  }
  // Only the size of a number can be wrong: it is too large, or too close to 0.
  if (node.kind() != DocumentNode::Kind::Number)
    return "";
  Tensor infinity(dtype, Shape({}));
  const bool has_infinity = parse_element("Infinity", infinity, 0);
  return fmt::format("; it is beyond the range of {}{}", name(dtype),
                     has_infinity ? " (infinity is written \"Infinity\")" : "");
}

/// Sets the element to the value of `item`. Returns false if an error was added.
bool read_element(DocumentNode item, Encoding encoding, Tensor& tensor, int64_t index,
                  Diagnostics& diagnostics) {
  const bool bits = encoding == Encoding::Bits;
  if (bits ? read_bits(item, tensor, index) : read_value(item, tensor, index))
    return true;
  diagnostics.add(
      item.origin(),
      fmt::format("expected {} of {}, got {}{}", bits ? "the bits" : "a value",
                  name(tensor.dtype()), got(item), bits ? "" : element_hint(item, tensor.dtype())));
  return false;
}

/// Sets both parts of an element of `dtype`: elements 2 * index and 2 * index + 1 of `parts`.
bool read_parts(DocumentNode item, Dtype dtype, Encoding encoding, Tensor& parts, int64_t index,
                Diagnostics& diagnostics) {
  if (item.kind() != DocumentNode::Kind::List || item.size() != 2) {
    const bool listed = item.kind() == DocumentNode::Kind::List;
    diagnostics.add(
        item.origin(),
        fmt::format("expected an element of {}, [real part, imaginary part], got {}", name(dtype),
                    listed ? fmt::format("a list of {}", item.size()) : got(item)));
    return false;
  }
  int64_t at = 2 * index;
  for (const DocumentNode part : item)
    if (!read_element(part, encoding, parts, at++, diagnostics))
      return false;
  return true;
}

}  // namespace

std::optional<Encoding> read_encoding(Fields& fields, Diagnostics& diagnostics) {
  const std::optional<DocumentNode> node = fields.optional("encoding");
  if (!node)
    return Encoding::Values;
  if (node->kind() == DocumentNode::Kind::Text && node->text() == "values")
    return Encoding::Values;
  if (node->kind() == DocumentNode::Kind::Text && node->text() == "bits")
    return Encoding::Bits;
  expected(*node, "\"values\" or \"bits\"", diagnostics);
  return std::nullopt;
}

std::optional<Tensor> read_tensor(DocumentNode list, const LiteralType& type,
                                  Diagnostics& diagnostics) {
  const int64_t elements = type.shape.elements();
  const std::string count = fmt::format("{} element{}", elements, elements == 1 ? "" : "s");
  if (!is_list(list, "a list of " + count, diagnostics))
    return std::nullopt;
  if (list.size() != static_cast<size_t>(elements)) {
    diagnostics.add(list.origin(), fmt::format("expected {} of {}{}, got {}", count,
                                               name(type.dtype), type.shape.text(), list.size()));
    return std::nullopt;
  }
  const bool has_parts = is_complex(type.dtype);
  Tensor tensor(type.dtype, type.shape);
  Tensor read = has_parts ? parts(tensor) : std::move(tensor);
  int64_t index = 0;
  for (const DocumentNode item : list) {
    if (!(has_parts ? read_parts(item, type.dtype, type.encoding, read, index, diagnostics)
                    : read_element(item, type.encoding, read, index, diagnostics)))
      return std::nullopt;
    ++index;
  }
  return has_parts ? joined(read) : read;
}

std::optional<std::vector<Tensor>> read_tensors(DocumentNode node, const LiteralType& type,
                                                Diagnostics& diagnostics) {
  if (!is_list(node, "one list of elements per device", diagnostics))
    return std::nullopt;
  if (node.size() != type.devices) {
    diagnostics.add(node.origin(), fmt::format("expected {} lists, one per device, got {}",
                                               type.devices, node.size()));
    return std::nullopt;
  }
  std::vector<Tensor> tensors;
  for (const DocumentNode list : node) {
    if (std::optional<Tensor> tensor = read_tensor(list, type, diagnostics))
      tensors.push_back(std::move(*tensor));
  }
  if (tensors.size() != type.devices)
    return std::nullopt;
  return tensors;
}

}  // namespace orrery
