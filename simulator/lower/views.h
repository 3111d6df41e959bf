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

/// Of a collective op, whose operand and result have these local shapes, over a group of
/// `group_size`: as its rules say (CollectiveForm), whole or with a part for each rank.
CollectiveViews collective_views(const Op& op, const Shape& operand, const Shape& result,
                                 int64_t group_size);

}  // namespace orrery
