#pragma once

// The values of a program: one tensor per value and device that has it.

#include <optional>
#include <vector>

#include "models/array/tensor.h"
#include "models/base/id.h"
#include "models/program/holders.h"
#include "models/program/program.h"

namespace orrery {

/// The tensors on each device; none at first.
class DeviceValues {
 public:
  DeviceValues() = default;  // of a program without values
  explicit DeviceValues(const Program& program);

  /// Requires that the device has the value.
  std::optional<Tensor>& at(ValueId value, LogicalId device);

  /// Empty for a device that never has the value.
  const std::optional<Tensor>& at(ValueId value, LogicalId device) const;

  /// Moves the tensor out; empty where at() is.
  std::optional<Tensor> take(ValueId value, LogicalId device);

 private:
  std::optional<size_t> index(ValueId value, LogicalId device) const;

  Holders holders_;
  std::vector<size_t> first_;  // per value: the index of its first tensor
  std::vector<std::optional<Tensor>> tensors_;
  std::optional<Tensor> none_;
};

}  // namespace orrery
