#pragma once

// A second, slow statement of the collectives' definitions, element by element. The parts of
// verifier/oracle/definitions.h are compared with it.

#include <cstdint>
#include <vector>

#include "models/array/shape.h"
#include "models/base/id.h"
#include "models/program/op.h"

namespace orrery::test {

/// A result element: operand element `source`, folded over ranks [rank, rank + ranks). Zero where
/// `ranks` is 0.
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
