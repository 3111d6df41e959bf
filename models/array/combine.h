#pragma once

// How two elements become one, and by whose arithmetic: what reductions and elementwise ops are
// asked for. arith.h has the arithmetic; work.h says what a collective makes of it. Freestanding.

#include <stdint.h>

namespace orrery {

/// How two elements become one. None: no reduction, the element is moved. Pred has no Add; its Max
/// is `or`, its Min is `and`.
enum class Combine : uint8_t { None, Add, Max, Min };

/// The arithmetic that floats follow.
enum class Numerics : uint8_t {
  Ieee,
  /// As XLA on the CPU computes, run by JAX 0.10.2: what is computed in f32 and f64 has no
  /// subnormals, and collectives fold by rules of their own.
  XlaCpu,
};

}  // namespace orrery
