#include "simulator/values/exchanged_operand.h"

#include <cstring>
#include <vector>

#include "models/program/sides.h"

namespace orrery {

ExchangedOperand::ExchangedOperand(std::span<const Tensor* const> parts) {
  if (parts.size() == 1) {
    whole_ = parts.front();
    return;
  }
  Shape shape = parts.front()->shape();
  for (const Tensor* part : parts.subspan(1))
    shape = shape.with(0, shape[0] + part->shape()[0]);
  std::byte* to = joined_.emplace(parts.front()->dtype(), std::move(shape)).bytes().data();
  for (const Tensor* part : parts) {
    if (const size_t size = part->bytes().size(); size > 0) {
      std::memcpy(to, part->bytes().data(), size);
      to += size;
    }
  }
}

std::optional<ExchangedOperand> given_operand(const Op& op, const DeviceValues& values,
                                              LogicalId device) {
  std::vector<const Tensor*> parts;
  for (const ValueId part : given_by(op)) {
    const std::optional<Tensor>& value = values.at(part, device);
    if (!value)
      return std::nullopt;
    parts.push_back(&*value);
  }
  return parts.empty() ? std::nullopt : std::optional<ExchangedOperand>(parts);
}

}  // namespace orrery
