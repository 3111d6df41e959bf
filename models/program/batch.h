#pragma once

// How an op is done for all elements of a batch at once: a part of an op's rules (rules.h), and
// what the rule is given.
//
// A batched value has one dimension more than the value that it was made of. Entry b along it is
// what element b of the batch has. A batch may take the place of a mesh axis. Then element b has
// what the devices at place b of that axis had, and a collective over the axis becomes local.

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

/// A value of the batched program.
struct Batched {
  std::string value;
  std::optional<size_t> dimension;  // the batch's; empty: all elements of it share the value
};

/// An op of a program that is batched.
class BatchCall {
 public:
  virtual ~BatchCall() = default;

  virtual OpKind kind() const = 0;
  virtual const Attributes& attributes() const = 0;
  /// The mesh of the op, still with the axis whose place the batch takes.
  virtual const Mesh& mesh() const = 0;
  /// That axis; empty where the batch takes the place of none.
  virtual std::optional<std::string_view> axis() const = 0;
  virtual int64_t size() const = 0;  // the batch's

  virtual size_t operands() const = 0;
  virtual const Batched& operand(size_t operand) const = 0;
  // The types of the values that one element of the batch has.
  virtual const ValueType& operand_type(size_t operand) const = 0;
  virtual const ValueType& result_type(size_t result = 0) const = 0;

  /// Adds an op to the batched program, whose mesh no longer has the axis. Attributes that are not
  /// given are those of the op's rules. Returns the results.
  virtual std::vector<std::string> op(OpKind kind, std::vector<std::string> operands,
                                      Attributes attributes, size_t results) = 0;
};

/// The results of the op, or why it cannot be batched.
using BatchOutcome = std::variant<std::vector<Batched>, std::string>;
/// It adds at most one collective. It is called if an operand is batched, or if the op is over the
/// axis whose place the batch takes.
using BatchRule = BatchOutcome (*)(BatchCall&);

}  // namespace orrery
