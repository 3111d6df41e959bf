#pragma once

// The areas of one member of a collective, in canonical order. Where the member's operand lies in
// that order already, its input area is the operand itself, until a step writes to it.

#include <cstddef>
#include <optional>
#include <vector>

#include "models/array/tensor.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

class MemberMemory {
 public:
  /// `operand` must outlive the memory. The collective's dtype may differ from the operand's (a sum
  /// of pred is one of s32): then the input is the operand converted.
  MemberMemory(const Collective& collective, const Tensor& operand, Shape result);

  const std::byte* read(const Slice& slice) const;
  std::byte* write(const Slice& slice);

  /// What the output area holds, as the collective's result. The memory is not used afterwards.
  Tensor take_result() &&;

 private:
  Area place(const Slice& slice) const;
  void own_input();

  const Collective& collective_;
  Shape result_;
  Bytes itemsize_;
  const Tensor* borrowed_ = nullptr;  // the input area, while nothing has written to it
  std::optional<Tensor> input_;
  Tensor output_;
  std::vector<std::byte> scratch_;
};

}  // namespace orrery
