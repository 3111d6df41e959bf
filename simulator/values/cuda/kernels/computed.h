#pragma once

// The type that narrow floats compute in. Freestanding.

#include "models/array/element_types.h"

namespace orrery::cuda {

template <class E, bool kIsNarrow>
struct ComputedIn {
  using Type = E;
};
template <class E>
struct ComputedIn<E, true> {
  using Type = arith::F32;
};

/// F32 for floats narrower than that, else E itself. What a function of arith.h gives for E, it
/// gives for elements that are converted to this type, once the result is converted back.
template <class E>
using Computed = typename ComputedIn<E, arith::Layout<E>::kIsNarrow>::Type;

}  // namespace orrery::cuda
