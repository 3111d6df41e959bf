#pragma once

// A backward rule passes the gradient of a value back through the op that made it. It is a part of
// an op's rules (rules.h). This file also has the rule's inputs.
//
// The cotangent of a value has the value's dtype and shape. Along each axis it has the value's
// state, except that the cotangent of an unreduced value is reduced, and that of a reduced value is
// unreduced.

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/mesh/mesh.h"
#include "models/program/attributes.h"
#include "models/program/op.h"
#include "models/program/value.h"

namespace orrery {

/// BackwardOps is the program to which a backward rule adds its ops. Values go by their names.
class BackwardOps {
 public:
  virtual ~BackwardOps() = default;

  /// Adds an op, and returns its results, which are so many. Attributes that are not given have the
  /// defaults of the op's rules. The op donates the operands `donated`.
  virtual std::vector<std::string> add_op(OpKind kind, std::vector<std::string> operands,
                                          Attributes attributes, std::vector<std::string> donated,
                                          size_t results) = 0;
  /// Does the same with one result.
  std::string op(OpKind kind, std::vector<std::string> operands, Attributes attributes = {},
                 std::vector<std::string> donated = {}) {
    return add_op(kind, std::move(operands), std::move(attributes), std::move(donated), 1).front();
  }
  virtual ValueType type(const std::string& value) = 0;
  /// Returns a cotangent of zeros, for a value of this type.
  virtual std::string zeros(const ValueType& type) = 0;
};

/// A BackwardCall is an op of a program whose results have cotangents.
class BackwardCall {
 public:
  virtual ~BackwardCall() = default;

  virtual const Attributes& attributes() const = 0;
  virtual const Mesh& mesh() const = 0;
  /// Returns whether states are known, so that casts between them have a meaning.
  virtual bool has_states() const = 0;
  virtual int64_t group_size() const = 0;  // requires a collective

  virtual size_t operands() const = 0;
  virtual const ValueType& operand_type(size_t operand) const = 0;
  virtual const ValueType& result_type(size_t result = 0) const = 0;
  /// Returns whether a cotangent of this operand is asked for.
  virtual bool wants(size_t operand) const = 0;

  // The values that the op had. A rule must ask for no operand in which the op is linear.
  virtual std::string operand(size_t operand) = 0;
  virtual std::string result(size_t result = 0) = 0;

  /// Returns whether a result has a cotangent: whether a value with a cotangent depends on it.
  virtual bool has_cotangent(size_t result) const = 0;
  /// Returns the cotangent of a result, or zeros if it has none. The cotangent of a token is a
  /// token, which leads from the receivers back to the senders.
  virtual std::string cotangent(size_t result = 0) = 0;
  /// Returns whether the rule may donate the cotangent of a result.
  virtual bool may_donate(size_t result) = 0;
  /// Returns the sum of the cotangents that the operand has so far, if the rule may donate it. The
  /// rule must then return the sum with its own cotangent in it.
  virtual std::optional<std::string> sum_so_far(size_t operand) = 0;

  /// Says that the op has no gradient as it is written, and why. The result of the rule is then not
  /// used.
  virtual void refuse(std::string why) = 0;

  virtual BackwardOps& ops() = 0;
};

/// Cotangents has the cotangent of each operand. A cotangent is empty if it is zero or was not
/// asked for. If a scalar stood for an array, its cotangent may be an array. Then the sum of the
/// array is meant. A cotangent may vary along an axis along which the operand is invarying or
/// reduced. Then the sum of its copies is meant.
using Cotangents = std::vector<std::optional<std::string>>;
using BackwardRule = Cotangents (*)(BackwardCall&);

/// LinearIn says in which operands an op is linear.
enum class LinearIn : uint8_t {
  None,
  All,      // in all together: add
  OneEach,  // in each, with the others given: mul
  First,    // in the first, with the others given: div, dynamic_slice
  Cases,    // in all but the first together: select_n
  Data,     // in the first two together: pad, dynamic_update_slice, ragged_all_to_all
};

}  // namespace orrery
