#pragma once

// What backward rules share.

#include <string>
#include <utility>
#include <vector>

#include "models/program/backward.h"

namespace orrery::backward {

/// Attributes from pairs of a name and a value.
inline Attributes with(std::vector<std::pair<std::string, Attribute>> given) {
  Attributes attributes;
  for (auto& [name, value] : given)
    attributes.set(std::move(name), std::move(value));
  return attributes;
}

inline std::vector<int64_t> dims_of(const Shape& shape) {
  return {shape.dims().begin(), shape.dims().end()};
}

/// A scalar, which stands for an array of any shape.
inline std::string scalar(BackwardCall& call, Dtype dtype, double value) {
  return call.ops().op(
      OpKind::Full, {},
      with({{"shape", std::vector<int64_t>()}, {"fill_value", value}, {"dtype", dtype}}));
}

inline std::string op(BackwardCall& call, OpKind kind, std::vector<std::string> operands) {
  return call.ops().op(kind, std::move(operands));
}

inline std::string converted(BackwardCall& call, const std::string& value, Dtype from, Dtype to) {
  return from == to ? value
                    : call.ops().op(OpKind::ConvertElementType, {value}, with({{"new_dtype", to}}));
}

/// An op whose only operand has a cotangent: that which `make` gives.
template <class Make>
Cotangents one(BackwardCall& call, Make make) {
  return {call.wants(0) ? std::optional<std::string>(make()) : std::nullopt};
}

}  // namespace orrery::backward
