#include "simulator/values/values.h"

#include <utility>

#include "models/base/check.h"

namespace orrery {

DeviceValues::DeviceValues(const Program& program) : holders_(program) {
  size_t count = 0;
  for (size_t v = 0; v < program.values.size(); ++v) {
    first_.push_back(count);
    count += holders_.of(ValueId(v)).size();
  }
  tensors_.resize(count);
}

std::optional<size_t> DeviceValues::index(ValueId value, LogicalId device) const {
  const std::optional<size_t> among = index_among(holders_.of(value), device);
  return among ? std::optional(first_[value.index()] + *among) : std::nullopt;
}

std::optional<Tensor>& DeviceValues::at(ValueId value, LogicalId device) {
  const std::optional<size_t> at = index(value, device);
  ORRERY_CHECK(at.has_value(), "only a device that has a value holds it");
  return tensors_[*at];
}

const std::optional<Tensor>& DeviceValues::at(ValueId value, LogicalId device) const {
  const std::optional<size_t> at = index(value, device);
  return at ? tensors_[*at] : none_;
}

std::optional<Tensor> DeviceValues::take(ValueId value, LogicalId device) {
  const std::optional<size_t> at = index(value, device);
  return at ? std::exchange(tensors_[*at], std::nullopt) : std::nullopt;
}

}  // namespace orrery
