#pragma once

// Parts of a definition, which name elements of tensors, in the canonical places that schedules
// work on: part by part through the views, not element by element.

#include <cstdint>
#include <optional>

#include "models/base/function_ref.h"
#include "simulator/schedule/view.h"
#include "verifier/oracle/part.h"

namespace orrery {

/// The canonical element that lies at each place of the tensor, as a view of the canonical
/// elements. Empty where the view does not give each place of its tensor one canonical element.
std::optional<View> inverse(const View& view);

/// Calls visit(part) for parts that together have the same pairs of elements, each once, with
/// `result` applied to the places in the result and `operand` to those in the operands. One part,
/// where no step of the given one leaves a dimension of a view, else more. Ends early where a visit
/// returns false. Requires places within both views; those of zeros (no ranks) in the operands
/// count for nothing.
void for_each_moved(const Part& part, const View& result, const View& operand,
                    FunctionRef<bool(const Part&)> visit);

}  // namespace orrery
