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

GroupOperands::GroupOperands(const Program& program, const Op& op, size_t ranks, Dtype dtype,
                             OpOfRank op_of_rank, ValueOfRank value_of_rank) {
  const auto zeros = [&](const Shape& shape) { return &zeros_.emplace_back(dtype, shape); };
  for (size_t rank = 0; rank < ranks; ++rank) {
    std::vector<const Tensor*> parts;
    if (const Op* const own = op_of_rank(rank))
      for (const ValueId operand : given_by(*own)) {
        const Tensor* const value = value_of_rank(rank, operand);
        parts.push_back(value != nullptr ? value : zeros(program.value(operand).type.shape));
      }
    if (parts.empty())
      parts.push_back(zeros(exchanged_types(program, op).operand.shape));
    tensors_.push_back(&joined_.emplace_back(parts).tensor());
  }
}

}  // namespace orrery
