#pragma once

// Where the canonical elements of a collective lie in its operand and result. Canonically, rank q's
// part of a tensor that has one for each rank is its q-th, contiguous and row-major over the part's
// own shape; so both ends of an exchange agree on the order inside a part.

#include <cstdint>

#include "models/array/shape.h"
#include "models/program/op.h"
#include "simulator/schedule/view.h"

namespace orrery {

struct CollectiveViews {
  View input;   // of the operand
  View output;  // of the result
};

/// Of a collective op, whose operand has this local shape, over a group of `group_size`:
///   psum, pmax, ppermute  whole operand, whole result
///   all_gather            whole operand; the result has a part for each rank, along `axis`
///   psum_scatter          the operand has a part for each rank, along `scatter_dimension`; whole
///                         result
///   all_to_all            the operand has a part for each rank along `split_axis`, the result
///                         along `concat_axis`
CollectiveViews collective_views(const Op& op, const Shape& operand, int64_t group_size);

}  // namespace orrery
