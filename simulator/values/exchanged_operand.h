#pragma once

// The operands that devices give to a collective: each one tensor, or several one after another
// (CollectiveForm::exchanged_operands).

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/array/tensor.h"
#include "models/base/callable.h"
#include "models/program/program.h"
#include "simulator/values/live_values.h"
#include "simulator/values/values.h"

namespace orrery {

class ExchangedOperand {
 public:
  /// One after another along their first dimension. A single one is not copied, and must outlive
  /// this object.
  explicit ExchangedOperand(std::span<const Tensor* const> parts);

  const Tensor& tensor() const { return joined_ ? *joined_ : *whole_; }

 private:
  const Tensor* whole_ = nullptr;  // if there is one
  std::optional<Tensor> joined_;
};

/// What a device gives by a collective op; empty if it gives nothing, or has no value of it. A
/// single tensor is not copied.
std::optional<ExchangedOperand> given_operand(const Op& op, const DeviceValues& values,
                                              LogicalId device);
/// The same, of the op's operands; null is one that the device does not have.
std::optional<ExchangedOperand> given_operand(const Op& op, std::span<const SharedTensor> operands);

/// The operands of all members of one group, in rank order: the definition of the collective is
/// applied to them.
class GroupOperands {
 public:
  /// The op by which a rank enters; null if none does.
  using OpOfRank = FunctionRef<const Op*(size_t rank)>;
  /// The value that a rank gives as an operand; null if it has none, as after a hang.
  using ValueOfRank = FunctionRef<const Tensor*(size_t rank, ValueId operand)>;

  /// `op` is any op of the site. For ranks that give nothing, and for values that they do not have,
  /// there are zeros of `dtype`. Values are not copied, and must outlive this object.
  GroupOperands(const Program& program, const Op& op, size_t ranks, Dtype dtype,
                OpOfRank op_of_rank, ValueOfRank value_of_rank);
  GroupOperands(const GroupOperands&) = delete;
  GroupOperands& operator=(const GroupOperands&) = delete;

  const std::vector<const Tensor*>& tensors() const { return tensors_; }

 private:
  // Pointers, since they are referred to.
  std::vector<std::unique_ptr<const Tensor>> zeros_;
  std::vector<std::unique_ptr<const ExchangedOperand>> joined_;
  std::vector<const Tensor*> tensors_;
};

}  // namespace orrery
