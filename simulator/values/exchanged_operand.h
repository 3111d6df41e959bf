#pragma once

// What a device gives to a collective: one tensor, or several one after another
// (CollectiveForm::exchanged_operands).

#include <optional>
#include <span>

#include "models/array/tensor.h"
#include "models/program/op.h"
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
/// single tensor of `values` is not copied.
std::optional<ExchangedOperand> given_operand(const Op& op, const DeviceValues& values,
                                              LogicalId device);

}  // namespace orrery
