#pragma once

// The ops that do one op for a batch, before they are added to a program.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/program/batch.h"
#include "models/program/op_request.h"
#include "models/program/program.h"

namespace orrery {

/// Gives each op that it is asked for a name of its own.
class UnusedNames {
 public:
  explicit UnusedNames(const Program& program);
  /// `name`, or with the first number that makes it unused.
  std::string take(const std::string& name);

 private:
  std::set<std::string, std::less<>> names_;
  std::map<std::string, size_t, std::less<>> tried_;  // the numbers, by name
};

/// The batch of a program.
struct BatchOf {
  const Program& program;
  std::optional<std::string_view> axis;  // of the mesh, whose place the batch takes
  int64_t size = 1;
  int64_t most_ops = 0;  // that may do one op
};

/// Thrown where one op needs more than BatchOf::most_ops.
struct TooManyOps {};

class BatchedOp final : public BatchCall {
 public:
  /// `operands` are those of the op in the batched program. take() gives the results the op's
  /// names.
  BatchedOp(const BatchOf& batch, const Op& op, std::vector<Batched> operands, UnusedNames& names)
      : batch_(batch), op_(op), operands_(std::move(operands)), names_(names) {}

  OpKind kind() const override { return op_.kind; }
  const Attributes& attributes() const override { return op_.attributes; }
  const Mesh& mesh() const override { return batch_.program.mesh; }
  std::optional<std::string_view> axis() const override { return batch_.axis; }
  int64_t size() const override { return batch_.size; }
  size_t operands() const override { return operands_.size(); }
  const Batched& operand(size_t operand) const override { return operands_[operand]; }
  const ValueType& operand_type(size_t operand) const override {
    return batch_.program.value(op_.operands[operand]).type;
  }
  const ValueType& result_type(size_t result) const override {
    return batch_.program.value(op_.results[result]).type;
  }
  /// Throws TooManyOps.
  std::vector<std::string> op(OpKind kind, std::vector<std::string> operands, Attributes attributes,
                              size_t results) override;

  /// Whether the op has a batched operand, or is over the axis whose place the batch takes.
  bool changes() const;
  /// Adds the op as it is.
  std::vector<Batched> unchanged();

  /// Adds `ops` under new names. In their operands, `made` becomes `as`. Returns the new name of
  /// `result`.
  std::string add_renamed(std::vector<OpRequest> ops, const std::string& made,
                          const std::string& as, const std::string& result);

  /// The ops that were added, in which `results` get the names of the op's results. A result may
  /// also be a value that none of them makes; then a reshape to the same shape is added.
  std::vector<OpRequest> take(std::vector<Batched> results);

  /// The ops as they are, under names of their own.
  std::vector<OpRequest> take_unnamed() { return std::move(ops_); }

  /// For an op that starts a collective: the ops that were added, up to and with the collective,
  /// which starts under the op's name; and those that must wait for its done. Empty, and nothing is
  /// done, where no op is a collective.
  struct Started {
    std::vector<OpRequest> ops;
    std::vector<OpRequest> after;
    std::string made;  // what those call the collective's result
  };
  std::optional<Started> take_started();

 private:
  void pass_on_donations(std::vector<OpRequest>& ops) const;

  BatchOf batch_;
  const Op& op_;
  std::vector<Batched> operands_;
  UnusedNames& names_;
  std::vector<OpRequest> ops_;
};

}  // namespace orrery
