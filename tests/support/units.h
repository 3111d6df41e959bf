#pragma once

// These are factors for the figures that tests write. The simulator counts in ps, bytes and bytes
// per second.

#include <cstdint>

namespace orrery::test {

inline constexpr int64_t kUs = 1'000'000;          // ps
inline constexpr int64_t kGBps = 1'000'000'000;    // bytes per second
inline constexpr int64_t kKiB = 1024;              // bytes
inline constexpr int64_t kMiB = int64_t{1} << 20;  // bytes

}  // namespace orrery::test
