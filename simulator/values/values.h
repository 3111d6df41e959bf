#pragma once

// The values of a program: one tensor per value and device.

#include <optional>
#include <vector>

#include "models/array/tensor.h"
#include "models/base/id.h"

namespace orrery {

/// What each device holds of each value. Empty where a device never has the value (another
/// thread's).
class DeviceValues {
 public:
  DeviceValues(size_t values, size_t devices) : devices_(devices), tensors_(values * devices) {}

  std::optional<Tensor>& at(ValueId value, LogicalId device) {
    return tensors_[value.index() * devices_ + device.index()];
  }
  const std::optional<Tensor>& at(ValueId value, LogicalId device) const {
    return tensors_[value.index() * devices_ + device.index()];
  }

 private:
  size_t devices_;
  std::vector<std::optional<Tensor>> tensors_;
};

}  // namespace orrery
