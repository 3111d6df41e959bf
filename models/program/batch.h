#pragma once

// A batch rule does an op for all elements of a batch at once. It is a part of an op's rules
// (rules.h). This file also has the rule's inputs.
//
// A batched value has one dimension more than the value that it was made of. Entry b along that
// dimension is the value of element b of the batch. A batch may take the place of a mesh axis. Then
// element b has the values of the devices at coordinate b of that axis, and a collective over the
// axis becomes local.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/mesh/mesh.h"
#include "models/program/attributes.h"
#include "models/program/op.h"
#include "models/program/value.h"

namespace orrery {

/// A Batched is a value of the batched program.
struct Batched {
  std::string value;
  std::optional<size_t> dimension;  // the batch's; empty: all elements of it share the value
};

/// A BatchCall is an op of a program that is batched.
class BatchCall {
 public:
  virtual ~BatchCall() = default;

  virtual OpKind kind() const = 0;
  virtual const Attributes& attributes() const = 0;
  /// Returns the mesh of the op, still with the axis whose place the batch takes.
  virtual const Mesh& mesh() const = 0;
  /// Returns that axis, or nothing if the batch takes the place of no axis.
  virtual std::optional<std::string_view> axis() const = 0;
  virtual int64_t size() const = 0;  // the batch's

  virtual size_t operands() const = 0;
  virtual const Batched& operand(size_t operand) const = 0;
  // The types of the values of one element of the batch.
  virtual const ValueType& operand_type(size_t operand) const = 0;
  virtual const ValueType& result_type(size_t result = 0) const = 0;
  virtual size_t results() const = 0;

  /// Adds an op to the batched program, whose mesh no longer has the axis. Attributes that are not
  /// given have the defaults of the op's rules. Returns the results.
  virtual std::vector<std::string> op(OpKind kind, std::vector<std::string> operands,
                                      Attributes attributes, size_t results) = 0;
};

/// A BatchOutcome is the results of the op, or why it cannot be batched.
using BatchOutcome = std::variant<std::vector<Batched>, std::string>;
/// A BatchRule adds at most one collective. It is called if an operand is batched, or if the op is
/// over the axis whose place the batch takes.
using BatchRule = BatchOutcome (*)(BatchCall&);

}  // namespace orrery
