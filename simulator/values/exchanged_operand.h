#pragma once

// An ExchangedOperand is what a device gives to a collective: one tensor, or several one after
// another (CollectiveForm::exchanged_operands).

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
  /// Joins the parts along their first dimension. A single part is not copied, and must outlive
  /// this object.
  explicit ExchangedOperand(std::span<const Tensor* const> parts);

  const Tensor& tensor() const { return joined_ ? *joined_ : *whole_; }

 private:
  const Tensor* whole_ = nullptr;  // if there is one
  std::optional<Tensor> joined_;
};

/// Returns what a device gives by a collective op; nothing if it gives nothing, or lacks one of the
/// values. A single tensor is not copied.
std::optional<ExchangedOperand> given_operand(const Op& op, const DeviceValues& values,
                                              LogicalId device);
/// Returns the same from the op's operands. An operand that the device lacks is null.
std::optional<ExchangedOperand> given_operand(const Op& op, std::span<const SharedTensor> operands);

/// GroupOperands has the operands of all members of one group, in rank order. The definition of the
/// collective is applied to them.
class GroupOperands {
 public:
  /// It returns the op by which a rank enters; null if none does.
  using OpOfRank = FunctionRef<const Op*(size_t rank)>;
  /// It returns the value of a rank's operand; null if the rank lacks it, as after a hang.
  using ValueOfRank = FunctionRef<const Tensor*(size_t rank, ValueId operand)>;

  /// `op` is any op of the site. Zeros of `dtype` stand for ranks that give nothing, and for values
  /// that a rank lacks. A rank's single value is not copied, and must outlive this object.
  GroupOperands(const Program& program, const Op& op, size_t ranks, Dtype dtype,
                OpOfRank op_of_rank, ValueOfRank value_of_rank);
  GroupOperands(const GroupOperands&) = delete;
  GroupOperands& operator=(const GroupOperands&) = delete;

  const std::vector<const Tensor*>& tensors() const { return tensors_; }

 private:
  // Pointers, since `tensors_` refers to the objects.
  std::vector<std::unique_ptr<const Tensor>> zeros_;
  std::vector<std::unique_ptr<const ExchangedOperand>> joined_;
  std::vector<const Tensor*> tensors_;
};

}  // namespace orrery
