#pragma once

// Work elements: what a collective moves and reduces. Operand elements are converted to them when a
// device enters, and to result elements when it leaves. Both conversions are element by element, so
// schedules, views and proofs do not depend on them.

#include <cstddef>
#include <cstdint>

#include "models/array/combine.h"
#include "models/array/storage.h"
#include "models/array/tensor.h"
#include "models/base/id.h"

namespace orrery {

/// An element of `dtype`, alone or followed (without padding) by the 4-byte rank that it came from.
struct WorkType {
  Dtype dtype = Dtype::F32;
  bool ranked = false;
  friend bool operator==(const WorkType&, const WorkType&) = default;
};

Bytes itemsize(WorkType type);

/// How an operand's element becomes a work element.
enum class Entering : uint8_t {
  Same,     // itself
  Counted,  // itself, but pred is counted in s32
  Ranked,   // itself and its rank
};

/// How a work element becomes a result element.
enum class Leaving : uint8_t {
  Same,  // itself, in the result's dtype
  Mean,  // converted to the result's dtype, a float or complex, then divided by the group's size
  ItsRank,
};

/// The rank reported with a NaN: JAX's answer where no operand equals the extremum.
inline constexpr int32_t kNoRank = 2147483647;

/// Of the sum over a group: pred is counted in s32.
Dtype summed_dtype(Dtype operand);

WorkType work_type(Entering entering, Dtype operand);

/// The work elements of the operand of `rank`, in its order.
Storage enter(Entering entering, const Tensor& operand, Rank rank);

/// target[i] = left[i] op right[i] for `count` work elements, aliased as in combine_into of
/// kernels.h. Of ranked elements, Max and Min keep the one that is larger or smaller (-0 and +0 are
/// equal, NaN wins), and of equal ones that of the lower rank.
void combine_into(WorkType type, Combine combine, std::byte* target, const std::byte* left,
                  const std::byte* right, int64_t count);

/// Converts work elements to the result, of `dtype` and `shape`, of a member of a group of `ranks`.
Tensor leave(Leaving leaving, WorkType type, Storage work, Dtype dtype, Shape shape, int64_t ranks);

}  // namespace orrery
