#pragma once

// A `BatchWalk` adds the ops of a batched program, one after another.
//
// It goes over the ops of the program. For each op that has a batched operand, or is over the axis
// whose place the batch takes, it makes a BatchedOp. The op's batch rule (models/program/batch.h)
// fills the BatchedOp with ops. take() then renames them so that the results have the names of the
// op's results. A started collective is split: the rule's ops that follow the collective wait for
// its done.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/program/batch.h"
#include "models/program/builder.h"
#include "models/program/futures.h"
#include "models/program/op_request.h"
#include "models/program/program.h"
#include "models/transform/named.h"

namespace orrery {

/// It describes the batch of a program.
struct BatchOf {
  const Program& program;
  std::optional<std::string_view> axis;  // of the mesh, whose place the batch takes
  int64_t size = 1;
  int64_t most_ops = 0;  // that may do one op
};

/// This error is thrown if one op needs more than BatchOf::most_ops.
struct TooManyOps {};

class BatchedOp final : public BatchCall {
 public:
  /// `operands` are those of the op in the batched program. take() gives the results the names that
  /// the op's results have.
  BatchedOp(const BatchOf& batch, const Op& op, std::vector<Batched> operands, UnusedNames& names)
      : batch_(batch), op_(op), operands_(std::move(operands)), names_(names) {}

  OpKind kind() const override { return op_.kind; }
  const Attributes& attributes() const override { return op_.attributes; }
  const Mesh& mesh() const override { return batch_.program.mesh; }
  std::optional<std::string_view> axis() const override { return batch_.axis; }
  int64_t size() const override { return batch_.size; }
  size_t operands() const override { return operands_.size(); }
  size_t results() const override { return op_.results.size(); }
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

  /// Returns whether the op has a batched operand, or is over the axis whose place the batch takes.
  bool changes() const;
  /// Adds the op as it is, and returns its results.
  std::vector<Batched> unchanged();

  /// Adds `ops` under new names, with `as` for each operand `made`. Returns `result`'s new name.
  std::string add_renamed(std::vector<OpRequest> ops, const std::string& made,
                          const std::string& as, const std::string& result);

  /// Returns the ops that were added, in which `results` get the names of the op's results. A
  /// result may also be a value that none of these ops makes. Then an op that copies it is added: a
  /// reshape to the same shape, or an optimization barrier for a token.
  std::vector<OpRequest> take(std::vector<Batched> results);

  /// Returns the ops as they are, under names of their own.
  std::vector<OpRequest> take_unnamed() { return std::move(ops_); }

  /// It holds the ops that were added for an op that starts a collective. `ops` end with the
  /// collective, which starts under the op's name; the ops in `after` must wait for its done.
  struct Started {
    std::vector<OpRequest> ops;
    std::vector<OpRequest> after;
    std::string made;  // name of the collective's result in `after`
  };
  /// Splits the ops that were added. Does nothing and returns nothing if none is a collective.
  std::optional<Started> take_started();

 private:
  void pass_on_donations(std::vector<OpRequest>& ops) const;

  BatchOf batch_;
  const Op& op_;
  std::vector<Batched> operands_;
  UnusedNames& names_;
  std::vector<OpRequest> ops_;
};

/// It says where a value is to have the batch.
struct BatchPlace {
  size_t dimension = 0;
  /// With Any, a value that is not batched is repeated. With Batched, it stays as it is.
  enum class Of : uint8_t { Any, Batched } of = Of::Any;
};

class BatchWalk {
 public:
  /// Ops go to `builder`, whose mesh is the one after the batch.
  BatchWalk(const BatchOf& batch, ProgramBuilder& builder);

  /// Returns the dimension of the batch in a value. It is empty if the value is not batched.
  std::optional<size_t>& dimension(ValueId value) { return dimensions_[inside(value).index()]; }

  /// Adds the ops that do `op` for the batch. `places` says where each result is to have the batch;
  /// an empty place lets the rule choose. Returns why the op cannot be batched, or nothing.
  std::optional<std::string> add(const Op& op,
                                 const std::vector<std::optional<BatchPlace>>& places);

  /// Makes `to`, a carry of a loop, the same future as `from`.
  void carry_future(ValueId from, ValueId to);
  /// Returns whether one future may take the place of the other in the program. Then their batch is
  /// in the same dimension or in none, and both or neither are awaited. No ops arrange the result
  /// of either after its done.
  bool same_future(ValueId a, ValueId b) const;

  /// Returns the name of the value with the batch at `place`. It is the value's own name if the
  /// batch is there already; otherwise ops are added. `maker` is the op that made the value.
  std::string placed(const Op& maker, ValueId value, const BatchPlace& place);

 private:
  ValueId inside(ValueId value) const;
  bool is_ended(ValueId future) const;
  Batched batched(ValueId value) const;
  void add_all(std::vector<OpRequest> ops);
  void finish(BatchedOp& call, const Op& op, std::vector<Batched> results,
              const std::vector<std::optional<BatchPlace>>& places);
  std::optional<std::string> add_op(const Op& op,
                                    const std::vector<std::optional<BatchPlace>>& places);
  void add_done(const Op& op, const std::vector<std::optional<BatchPlace>>& places);

  /// It holds the ops that arrange the result of a started collective. They come after its done.
  struct Awaited {
    std::vector<OpRequest> after;
    std::string made;    // their name for the done's result
    std::string result;  // their own result
  };

  const BatchOf batch_;
  ProgramBuilder& builder_;
  UnusedNames names_;
  const Futures futures_;
  std::map<ValueId, ValueId> exits_;               // the value in the body, by the value outside
  std::vector<std::optional<size_t>> dimensions_;  // by value; an exit has that of the value inside
  std::map<ValueId, Awaited> awaited_;  // by future; an exit has that of the future inside
};

}  // namespace orrery
