#pragma once

// The definitions of collectives once more, slow and obvious: by the index of each element. What
// the parts of verifier/oracle/definitions.h are compared with.

#include <cstdint>
#include <vector>

#include "models/array/shape.h"
#include "models/base/id.h"
#include "models/program/op.h"

namespace orrery::test {

/// A result element: the fold of operand element `source` of the ranks [rank, rank + ranks). Zero
/// without any.
struct DefinedElement {
  Rank rank;
  uint32_t ranks = 0;
  int64_t source = 0;
  friend bool operator==(const DefinedElement&, const DefinedElement&) = default;
};

/// The result of one rank, row-major. Axes are not negative.
std::vector<DefinedElement> define_by_element(const Op& op, const Shape& operand,
                                              uint32_t group_size, Rank rank);

}  // namespace orrery::test
