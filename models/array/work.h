#pragma once

// Work elements are the elements that a collective moves and reduces. Operand elements become work
// elements when a device enters the collective, and work elements become result elements when it
// leaves. Both conversions are element by element, so schedules, views and proofs do not depend on
// them.

#include <cstddef>
#include <cstdint>

#include "models/array/combine.h"
#include "models/array/folds.h"
#include "models/array/tensor.h"
#include "models/base/id.h"

namespace orrery {

/// A work element is an element of `dtype`, alone or followed (unpadded) by the 4-byte rank of
/// origin.
struct WorkType {
  Dtype dtype = Dtype::F32;
  bool ranked = false;
  friend bool operator==(const WorkType&, const WorkType&) = default;
};

Bytes itemsize(WorkType type);

/// An Entering says how an operand's element becomes a work element.
enum class Entering : uint8_t {
  Same,     // itself
  Counted,  // itself, but pred is counted in s32
  Ranked,   // itself and its rank
};

/// A Leaving says how a work element becomes a result element.
enum class Leaving : uint8_t {
  Same,  // itself, in the result's dtype
  Mean,  // converted to the result's dtype, a float or complex, then divided by the group's size
  ItsRank,
};

using arith::kNoRank;

/// Returns the dtype of a sum over a group: s32 for pred, which is counted, else the operand's.
Dtype summed_dtype(Dtype operand);

/// Returns the dtype in which ops divide a sum of `dtype` by a number of ranks, as Leaving::Mean
/// does. It is f64 or c128 if the dtype lacks that number, which may even be beyond its range.
Dtype dividing_dtype(Dtype dtype, int64_t ranks);

WorkType work_type(Entering entering, Dtype operand);

/// A Folding says how the elements of a collective are folded. With Numerics::XlaCpu the rules are:
///  - A sum starts from +0. In any order of the fold this is the same as +0 + x[0] in place of
///    x[0]. bf16 is summed in f32 and floats of 8 bits in f16; they are rounded once, at the end.
///  - An extremum starts from an infinity, or from NaN in f8e4m3fn, and passes over NaN
///    (arith::xla_cpu::later_if_larger). So a fold of only NaNs gives the start, and pargmax gives
///    kNoRank.
///  - A mean of f16, f32 and f64 multiplies by 1/n, rounded to the dtype. Others divide by n. A
///    complex number a + bi becomes ((a + 0 b) + (b - 0 a) i) 1/n, but stays as it is for n = 1.
struct Folding {
  /// The type of the values while they are folded. Time and memory are charged for the WorkType of
  /// the collective, whatever its numerics.
  WorkType held;
  Numerics numerics = Numerics::Ieee;
  Combine combine = Combine::None;
};

/// Returns the folding of work elements of this type. The numerics matter only for a reduction.
Folding folding(WorkType type, Combine combine, Numerics numerics);

/// Returns the work elements of the operand of `rank`, in the operand's order, in the type `held`.
Storage enter(Entering entering, const Folding& folding, const Tensor& operand, Rank rank);

/// Sets target[i] = left[i] op right[i] for `count` held elements. The arrays may alias as in
/// combine_into of kernels.h. Max and Min of ranked elements keep the larger or smaller one (-0 and
/// +0 are equal; NaN wins, but loses with XlaCpu), and the lower rank if two are equal.
void combine_into(const Folding& folding, Combine combine, std::byte* target, const std::byte* left,
                  const std::byte* right, int64_t count);

/// Converts held elements to the result of a member of a group of `ranks` ranks. The result has
/// `dtype` and `shape`.
Tensor leave(Leaving leaving, const Folding& folding, Storage held, Dtype dtype, Shape shape,
             int64_t ranks);

/// Returns the means of sums over `ranks` ranks. Requires floats or complex numbers.
Tensor mean_of(Tensor sums, int64_t ranks, Numerics numerics);

}  // namespace orrery
