#pragma once

// Where the canonical elements of a collective lie in its operand and result. In a tensor with a
// part per rank, rank q's part is the q-th. It is contiguous, and row-major over the part's own
// shape. So both ends of an exchange agree on the order inside a part.

#include <compare>
#include <cstdint>

#include "models/array/shape.h"
#include "models/program/op.h"
#include "simulator/schedule/view.h"

namespace orrery {

/// What a view depends on: the tensor is `blocks` times a run of each part, one part after another.
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

/// For a collective op whose operand and result have these local shapes, over a group of
/// `group_size`. Its rules (CollectiveForm) say whether each is whole or has a part per rank.
CollectiveParts collective_parts(const Op& op, const Shape& operand, const Shape& result,
                                 int64_t group_size);

struct CollectiveViews {
  View input;   // of the operand
  View output;  // of the result
};
CollectiveViews collective_views(const Op& op, const Shape& operand, const Shape& result,
                                 int64_t group_size);

}  // namespace orrery
