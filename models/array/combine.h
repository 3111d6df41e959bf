#pragma once

// The reductions of collectives. Freestanding.

#include <stdint.h>

namespace orrery {

/// How two elements become one. None: no reduction, the element is moved. Pred has no Add; its Max
/// is `or`, its Min is `and`.
enum class Combine : uint8_t { None, Add, Max, Min };

}  // namespace orrery
