#pragma once

// The areas of one node of a collective: work elements (models/array/work.h), as they are held, in
// canonical order.
// If a member's operand already has this form, it serves as the input area until a step writes to
// it.

#include <cstddef>
#include <optional>

#include "models/array/storage.h"
#include "models/array/tensor.h"
#include "models/array/work.h"
#include "models/program/value.h"
#include "simulator/schedule/end_copies.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

class MemberMemory {
 public:
  /// Of the member of rank `node`. `operand` must outlive the memory; null for a member that gives
  /// none, and so has no input area. `result` is empty for one that takes none, and so has no
  /// output area. Elements are held as `folding` says.
  MemberMemory(const Collective& collective, const Folding& folding, Node node,
               const Tensor* operand, std::optional<ValueType> result);
  /// Of a switch node.
  MemberMemory(const Collective& collective, const Folding& folding, Node node);

  const std::byte* read(const Slice& slice) const;
  std::byte* write(const Slice& slice);

  /// The output area as the collective's result. The memory cannot be used afterwards. Requires a
  /// member that takes one.
  Tensor take_result() &&;

 private:
  Area area_of(const Slice& slice) const;
  void take_operand(const Tensor& operand, const EndCopies& copies);
  void own_input();

  const Collective& collective_;
  const Folding folding_;
  const Node node_;
  std::optional<ValueType> result_;
  Bytes itemsize_;
  const Tensor* borrowed_ = nullptr;  // the input area, until something writes to it
  std::optional<Storage> input_;
  bool reorders_result_ = false;
  Storage output_;
  Storage scratch_;
};

}  // namespace orrery
