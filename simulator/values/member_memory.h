#pragma once

// A MemberMemory has the areas of one node of a collective. They contain work elements
// (models/array/work.h), as they are held, in canonical order. If a member's operand already has
// this form, it serves as the input area until a step writes to it.

#include <cstddef>
#include <optional>

#include "models/array/tensor.h"
#include "models/array/work.h"
#include "models/program/value.h"
#include "simulator/schedule/end_copies.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/exchanged_operand.h"

namespace orrery {

class MemberMemory {
 public:
  /// Makes the memory of the member of rank `node`. `given` is empty for a member that gives no
  /// operand and so has no input area. `result` is empty for a member that takes no result and so
  /// has no output area. Elements are held as `folding` says.
  MemberMemory(const Collective& collective, const Folding& folding, Node node,
               std::optional<ExchangedOperand> given, std::optional<ValueType> result);
  /// Makes the memory of a switch node.
  MemberMemory(const Collective& collective, const Folding& folding, Node node);

  const std::byte* read(const Slice& slice) const;
  std::byte* write(const Slice& slice);

  /// Returns the output area as the collective's result. The memory cannot be used afterwards.
  /// Requires a member that takes a result.
  Tensor take_result() &&;

 private:
  Area area_of(const Slice& slice) const;
  void take_operand(ExchangedOperand given, const EndCopies& copies);
  void own_input();

  const Collective& collective_;
  const Extent& extent_;
  const Folding folding_;
  const Node node_;
  std::optional<ValueType> result_;
  Bytes itemsize_;
  std::optional<ExchangedOperand> operand_;  // the input area, until something writes to it
  std::optional<Storage> input_;
  bool reorders_result_ = false;
  Storage output_;
  Storage scratch_;
};

}  // namespace orrery
