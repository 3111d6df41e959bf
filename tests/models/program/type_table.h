#pragma once

// Applies a type rule in one line: gives the result of an op for operands of given types, as text.

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/program/groups.h"
#include "models/program/rules.h"
#include "tests/models/program/lists.h"

namespace orrery::test {

using Given = std::initializer_list<std::pair<std::string, Attribute>>;

/// Returns the given attributes, with the defaults for the others.
inline Attributes attributes_of(OpKind kind, Given given) {
  Attributes attributes;
  for (const Parameter& parameter : rules(kind).parameters)
    if (parameter.otherwise)
      attributes.set(std::string(parameter.name), *parameter.otherwise);
  for (const auto& [name, value] : given)
    attributes.set(name, value);
  return attributes;
}

/// Returns a type with the states given as letters, one per mesh axis: "I", "V", "U" or "R".
inline ValueType type(Dtype dtype, Shape shape, std::string_view states) {
  ValueType type{dtype, std::move(shape), {}, false};
  for (const char letter : states)
    type.axes.push_back(letter == 'I'   ? AxisState::Invarying
                        : letter == 'V' ? AxisState::Varying
                        : letter == 'U' ? AxisState::Unreduced
                                        : AxisState::Reduced);
  return type;
}

/// Returns a type on a mesh without axes, where states say nothing.
inline ValueType plain(Dtype dtype, Shape shape) {
  return type(dtype, std::move(shape), "");
}

/// Returns the types of the results, "nothing" if there are none, or "PARAMETER: error".
inline std::string outcome(const Mesh& mesh, OpKind kind, const std::vector<ValueType>& operands,
                           Given given, Checks checks = Checks::States) {
  const Attributes attributes = attributes_of(kind, given);
  const auto said = [](const TypeError& error) { return error.parameter + ": " + error.message; };
  int64_t size = 1;
  if (rules(kind).family == Family::Collective) {
    if (const auto error = groups_error(mesh, attributes, rules(kind).group_sizes))
      return said(*error);
    size = group_size(mesh, attributes);
  }
  const TypeOutcome result = rules(kind).type({mesh, checks, attributes, operands, size});
  if (const auto* error = std::get_if<TypeError>(&result))
    return said(*error);
  const auto& types = std::get<std::vector<ValueType>>(result);
  std::string texts;
  for (const ValueType& type : types)
    texts += (texts.empty() ? "" : ", ") + text(type, mesh);
  return types.empty() ? "nothing" : texts;
}

inline std::string outcome(OpKind kind, const std::vector<ValueType>& operands, Given given = {}) {
  return outcome(Mesh(), kind, operands, given);
}

/// Returns the error of an op that needs ordered elements, for an operand of a dtype without order.
inline std::string unordered(std::string_view dtype) {
  return "of: expected elements that have an order, got " + std::string(dtype) +
         "; complex numbers have none";
}

}  // namespace orrery::test
