#pragma once

// What a check concludes, and a run as a whole.

#include <algorithm>
#include <cstdint>

namespace orrery {

/// Each outweighs those before it. Undecided: nothing is known to be wrong, but what was done could
/// not have shown it.
enum class Verdict : uint8_t { Holds, Undecided, Fails };

/// Of two checks together.
constexpr Verdict both(Verdict a, Verdict b) {
  return std::max(a, b);
}

}  // namespace orrery
