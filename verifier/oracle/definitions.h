#pragma once

// What each collective means, by definition and by no schedule: which operand elements make each
// result element. Values (apply) and proofs (verifier/prove) both follow from this one statement,
// so a new collective is defined here and nowhere else in the verifier.

#include <cstdint>
#include <span>
#include <vector>

#include "models/array/combine.h"
#include "models/array/tensor.h"
#include "models/base/id.h"
#include "models/program/op.h"

namespace orrery {

/// Result elements [first, first + count), row-major: element first + i is the fold of operand
/// element source + i of each of the ranks [rank, rank + ranks). No ranks: zeros.
struct Part {
  int64_t first = 0;
  int64_t count = 0;
  Rank rank;
  uint32_t ranks = 0;
  int64_t source = 0;
  friend bool operator==(const Part&, const Part&) = default;
};

/// The result of one rank. Parts are ascending, cover the result, and are as few as can be.
struct Definition {
  Combine combine = Combine::None;  // with None, a part has at most one rank
  std::vector<Part> parts;
  friend bool operator==(const Definition&, const Definition&) = default;
};

/// The definition of collective `op` for `rank` of a group of `group_size`, whose operands have the
/// shape `operand`. Requires an op that satisfies its type rule.
Definition define(const Op& op, const Shape& operand, uint32_t group_size, Rank rank);

/// The values that the definition gives, as a tensor of `dtype` and `shape`. Folds run from the
/// left in rank order, each step rounded to `dtype`. `operands` has one tensor of `dtype` per rank:
/// those of a psum of pred are converted to s32 first (GroupOperands).
Tensor apply(const Definition& definition, std::span<const Tensor* const> operands, Dtype dtype,
             const Shape& shape);

/// The operands of a group in the dtype that its collective works in.
class GroupOperands {
 public:
  GroupOperands(std::span<const Tensor* const> operands, Dtype dtype);
  GroupOperands(const GroupOperands&) = delete;
  GroupOperands& operator=(const GroupOperands&) = delete;

  std::span<const Tensor* const> tensors() const { return tensors_; }

 private:
  std::vector<Tensor> converted_;  // those that had another dtype
  std::vector<const Tensor*> tensors_;
};

}  // namespace orrery
