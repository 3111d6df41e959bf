#pragma once

// Parts of a definition, which name elements of tensors, in the canonical places that schedules
// work on: part by part through the views, not element by element.

#include <cstdint>
#include <optional>
#include <vector>

#include "simulator/schedule/view.h"
#include "verifier/oracle/part.h"

namespace orrery {

/// The canonical element that lies at each place of the tensor, as a view of the canonical
/// elements. Empty where the view does not give each place of its tensor one canonical element.
std::optional<View> inverse(const View& view);

/// The same pairs of elements with `result` applied to the places in the result and `operand` to
/// those in the operands: parts that together have each pair once, joined. One, where no step of
/// the part leaves a dimension of a view, else more. Requires places within both views; those of
/// zeros (no ranks) in the operands count for nothing.
std::vector<Part> moved(Part part, const View& result, const View& operand);

}  // namespace orrery
