#pragma once

// Work elements: what a collective moves and folds. An operand's element becomes one as its device
// enters, and becomes an element of the result as it leaves; both element by element, so that which
// elements meet (views, schedules, proofs) does not depend on it.

#include <cstddef>
#include <cstdint>

#include "models/array/combine.h"
#include "models/array/storage.h"
#include "models/array/tensor.h"
#include "models/base/id.h"

namespace orrery {

/// An element of `dtype`, alone or followed, without padding, by the rank that it came from: 4
/// bytes.
struct WorkType {
  Dtype dtype = Dtype::F32;
  bool ranked = false;
  friend bool operator==(const WorkType&, const WorkType&) = default;
};

Bytes itemsize(WorkType type);

/// What an operand's element becomes.
enum class Entering : uint8_t {
  Same,     // itself
  Counted,  // itself, but pred is counted in s32
  Ranked,   // itself and its rank
};

/// What becomes of a work element.
enum class Leaving : uint8_t {
  Same,  // itself, in the result's dtype
  Mean,  // converted to the result's dtype, a float, then divided by the group's size
  ItsRank,
};

/// The rank of a NaN: JAX's answer where no operand equals the extremum.
inline constexpr int32_t kNoRank = 2147483647;

WorkType work_type(Entering entering, Dtype operand);

/// The work elements of the operand of `rank`, in its order.
Storage enter(Entering entering, const Tensor& operand, Rank rank);

/// target[i] = left[i] op right[i] for `count` work elements, aliased as in combine_into of
/// kernels.h. Of ranked elements, Max and Min keep the one that is larger or smaller (-0 and +0 are
/// equal, NaN wins), and of equal ones that of the lower rank.
void combine_into(WorkType type, Combine combine, std::byte* target, const std::byte* left,
                  const std::byte* right, int64_t count);

/// The result, of `dtype` and `shape`, that work elements make for a member of a group of `ranks`.
Tensor leave(Leaving leaving, WorkType type, Storage work, Dtype dtype, Shape shape, int64_t ranks);

}  // namespace orrery
