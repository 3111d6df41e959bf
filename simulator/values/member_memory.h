#pragma once

// The areas of one member of a collective: work elements (models/array/work.h) in canonical order.
// Where the member's operand is that already, its input area is the operand itself, until a step
// writes to it.

#include <cstddef>
#include <optional>

#include "models/array/storage.h"
#include "models/array/tensor.h"
#include "models/program/value.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

class MemberMemory {
 public:
  /// Of the member of rank `node`. `operand` must outlive the memory.
  MemberMemory(const Collective& collective, Node node, const Tensor& operand, ValueType result);

  const std::byte* read(const Slice& slice) const;
  std::byte* write(const Slice& slice);

  /// What the output area holds, as the collective's result. The memory is not used afterwards.
  Tensor take_result() &&;

 private:
  Area area_of(const Slice& slice) const;
  void own_input();

  const Collective& collective_;
  ValueType result_;
  Bytes itemsize_;
  const Tensor* borrowed_ = nullptr;  // the input area, while nothing has written to it
  std::optional<Storage> input_;
  Storage output_;
  Storage scratch_;
};

}  // namespace orrery
