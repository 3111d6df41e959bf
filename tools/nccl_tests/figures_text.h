#pragma once

// Figures as nccl-tests prints them (NVIDIA/nccl-tests at a0b82b2, src/util.cu).

#include <cstdint>
#include <string>

#include "models/base/quantity.h"

namespace orrery {

/// In us, of 7 characters: with as many of two decimals as fit, rounded half up; from 10 s on with
/// an exponent.
std::string nccl_time_text(Duration time);

/// In GB/s, of 6 characters, in the same way.
std::string nccl_bandwidth_text(BytesPerSecond bandwidth);

/// With six decimals (%lf), rounded half up: times in us are exact.
std::string nccl_json_time(Duration time);
std::string nccl_json_bandwidth(BytesPerSecond bandwidth);

}  // namespace orrery
