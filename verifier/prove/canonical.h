#pragma once

// Moves the parts of a definition from offsets in tensors to the canonical offsets that schedules
// use. It goes part by part through the views, not element by element.

#include <cstdint>
#include <optional>

#include "models/base/callable.h"
#include "simulator/schedule/view.h"
#include "verifier/definition/definitions.h"

namespace orrery {

/// Returns the canonical element at each offset of the tensor, as a view of the canonical elements.
/// The result is empty unless the view gives each offset of its tensor exactly one canonical
/// element.
std::optional<View> inverse(const View& view);

/// Calls visit(part) for parts that together have the same pairs of elements, each once. `result`
/// is applied to the offsets in the result and `operand` to those in the operands. There is one
/// part if no step of the given part leaves a dimension of a view, and several if one does. The
/// calls end with the first that returns false. Requires offsets within both views. The operand
/// offsets of zeros, which come from no rank, are ignored.
void for_each_moved(const Part& part, const View& result, const View& operand,
                    FunctionRef<bool(const Part&)> visit);

}  // namespace orrery
