#pragma once

// Reductions and elementwise ops are told by these types how two elements become one, and by whose
// arithmetic. arith.h has the arithmetic. work.h says how a collective uses it. This header is
// freestanding.

#include <stdint.h>

namespace orrery {

/// A Combine says how two elements become one. With None there is no reduction: elements are moved.
/// Pred has no Add; its Max is `or`, its Min is `and`.
enum class Combine : uint8_t { None, Add, Max, Min };

/// Numerics is the arithmetic that floats follow.
enum class Numerics : uint8_t {
  Ieee,
  /// Floats compute as XLA on the CPU does, run by JAX 0.10.2. Operations in f32 and f64 have no
  /// subnormals, and collectives fold by rules of their own.
  XlaCpu,
};

}  // namespace orrery
