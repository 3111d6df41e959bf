#pragma once

// Where the canonical elements of a collective lie in its operand and result. Canonically, rank q's
// part of a tensor that has one for each rank is its q-th, contiguous and row-major over the part's
// own shape; so both ends of an exchange agree on the order inside a part.

#include <compare>
#include <cstdint>

#include "models/array/shape.h"
#include "models/program/op.h"
#include "simulator/schedule/view.h"

namespace orrery {

/// What a view depends on: the tensor is `blocks` times a run of each part, one part after the
/// other.
struct TensorParts {
  int64_t elements = 0;
  int64_t parts = 1;
  int64_t blocks = 1;
  friend auto operator<=>(const TensorParts&, const TensorParts&) = default;
};

View view(const TensorParts& parts);

struct CollectiveParts {
  TensorParts operand;
  TensorParts result;
  friend auto operator<=>(const CollectiveParts&, const CollectiveParts&) = default;
};

/// Of a collective op, whose operand and result have these local shapes, over a group of
/// `group_size`: as its rules say (CollectiveForm), whole or with a part for each rank.
CollectiveParts collective_parts(const Op& op, const Shape& operand, const Shape& result,
                                 int64_t group_size);

}  // namespace orrery
