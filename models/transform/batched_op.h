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

/// An op needs more of them.
struct TooManyOps {};

class BatchedOp final : public BatchCall {
 public:
  /// `operands`: those of the op, in the batched program. The results take the op's names in the
  /// end.
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

  /// Whether the op cannot stay as it is.
  bool changes() const;
  /// The op as it is.
  std::vector<Batched> unchanged();

  /// Adds the ops, in which `made` goes by the name `as` and all others by new names. Returns what
  /// became of `result`.
  std::string add_renamed(std::vector<OpRequest> ops, const std::string& made,
                          const std::string& as, const std::string& result);

  /// The ops, of which the results have the op's names; each of `results` is one of theirs, or any
  /// value of the program.
  std::vector<OpRequest> take(std::vector<Batched> results);

  /// The ops as they are, under names of their own.
  std::vector<OpRequest> take_unnamed() { return std::move(ops_); }

  /// The ops, of which one is a collective that starts under the op's name. Those that follow it,
  /// which wait for its done, are taken out; `made` is the collective's result in them. Empty, and
  /// nothing is done, where no op is a collective.
  struct Started {
    std::vector<OpRequest> ops;
    std::vector<OpRequest> after;
    std::string made;
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
