#include "simulator/values/exchanged_operand.h"

#include <cstring>
#include <memory>
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

namespace {

/// Joins the operands that `op` gives. `tensor_of` returns that of an operand's number, or null.
template <class TensorOf>
std::optional<ExchangedOperand> joined_operand(const Op& op, TensorOf&& tensor_of) {
  std::vector<const Tensor*> parts;
  for (size_t i = 0; i < given_by(op).size(); ++i) {
    const Tensor* const tensor = tensor_of(i);
    if (tensor == nullptr)
      return std::nullopt;
    parts.push_back(tensor);
  }
  return parts.empty() ? std::nullopt : std::optional<ExchangedOperand>(parts);
}

}  // namespace

std::optional<ExchangedOperand> given_operand(const Op& op, const DeviceValues& values,
                                              LogicalId device) {
  return joined_operand(op, [&](size_t i) {
    const std::optional<Tensor>& value = values.at(given_by(op)[i], device);
    return value ? &*value : nullptr;
  });
}

std::optional<ExchangedOperand> given_operand(const Op& op,
                                              std::span<const SharedTensor> operands) {
  return joined_operand(op, [&](size_t i) { return operands[i].get(); });
}

GroupOperands::GroupOperands(const Program& program, const Op& op, size_t ranks, Dtype dtype,
                             OpOfRank op_of_rank, ValueOfRank value_of_rank) {
  const auto zeros = [&](const Shape& shape) {
    return zeros_.emplace_back(std::make_unique<const Tensor>(dtype, shape)).get();
  };
  tensors_.reserve(ranks);
  std::vector<const Tensor*> parts;
  for (size_t rank = 0; rank < ranks; ++rank) {
    parts.clear();
    if (const Op* const own = op_of_rank(rank))
      for (const ValueId operand : given_by(*own)) {
        const Tensor* const value = value_of_rank(rank, operand);
        parts.push_back(value != nullptr ? value : zeros(program.value(operand).type.shape));
      }
    if (parts.empty())
      parts.push_back(zeros(exchanged_operand(program, op).shape));
    tensors_.push_back(
        parts.size() == 1
            ? parts.front()
            : &joined_.emplace_back(std::make_unique<const ExchangedOperand>(parts))->tensor());
  }
}

}  // namespace orrery
