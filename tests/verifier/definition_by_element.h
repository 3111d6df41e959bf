#pragma once

// States the definitions of collectives a second time, slowly, element by element. Tests compare
// the parts of verifier/definition/definitions.h with it.

#include <cstdint>
#include <vector>

#include "models/array/shape.h"
#include "models/base/id.h"
#include "models/program/op.h"

namespace orrery::test {

/// A `DefinedElement` is a result element: operand element `source`, folded over ranks [rank, rank
/// + ranks). It is zero if `ranks` is 0.
struct DefinedElement {
  Rank rank;
  uint32_t ranks = 0;
  int64_t source = 0;
  friend bool operator==(const DefinedElement&, const DefinedElement&) = default;
};

/// Returns the result of one rank, row-major. Requires axes that are not negative.
std::vector<DefinedElement> define_by_element(const Op& op, const Shape& operand,
                                              uint32_t group_size, Rank rank);

}  // namespace orrery::test
