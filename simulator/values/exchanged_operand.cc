#include "simulator/values/exchanged_operand.h"

#include <cstring>
#include <vector>

#include "models/program/rules.h"

namespace orrery {

namespace {

std::vector<const Tensor*> exchanged_parts(const Op& op, const DeviceValues& values,
                                           LogicalId device) {
  std::vector<const Tensor*> parts;
  for (size_t k = 0; k < rules(op.kind).form.exchanged_operands; ++k)
    parts.push_back(&values.at(op.operands[k], device).value());
  return parts;
}

}  // namespace

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

ExchangedOperand::ExchangedOperand(const Op& op, const DeviceValues& values, LogicalId device)
    : ExchangedOperand(exchanged_parts(op, values, device)) {}

}  // namespace orrery
