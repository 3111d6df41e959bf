#pragma once

// How large a scenario may be. Each limit is checked before memory is spent on what exceeds it, and
// exceeding it is a fault of the input.

#include <cstdint>
#include <limits>

namespace orrery {

inline constexpr int64_t kMostDevices = int64_t{1} << 20;
inline constexpr int64_t kMostLinks = int64_t{1} << 22;
inline constexpr int64_t kMostMeshAxes = 64;
inline constexpr int64_t kMostDimensions = 64;

// Ops times devices: what the replica groups of a program may take.
inline constexpr int64_t kMostOpPlaces = int64_t{1} << 27;

// Ops that loops unroll to, counted per thread: what a short file may ask for.
inline constexpr int64_t kMostUnrolledOps = int64_t{1} << 18;

// Links share in units of 1/27,720 B/s, which leaves so many whole bytes per second to 63 bits.
inline constexpr int64_t kMostBandwidth = std::numeric_limits<int64_t>::max() / 27'720;

}  // namespace orrery
