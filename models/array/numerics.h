#pragma once

// Whose arithmetic floats follow. arith.h has both; what a collective makes of them is in work.h.
// Freestanding.

#include <stdint.h>

namespace orrery {

enum class Numerics : uint8_t {
  Ieee,
  /// Those of XLA on the CPU, as JAX 0.10.2 runs it: what is computed in f32 and f64 has no
  /// subnormals, and collectives fold by rules of their own.
  XlaCpu,
};

}  // namespace orrery
