#pragma once

// Reads decimals of tables exactly, in whole small units ("12.83" us are 12830000 ps), and writes
// figures as nccl-tests prints them (NVIDIA/nccl-tests at a0b82b2, src/util.cu).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/base/quantity.h"

namespace orrery {

/// This is a decimal that was printed with some digits, as a whole number of units of 10^-decimals.
struct PrintedDecimal {
  int64_t value = 0;
  int64_t half = 0;  // half of the last digit's unit, rounded up: the most that rounding changed

  /// These return the least and the largest value that may have been printed so.
  int64_t low() const { return value > half ? value - half : 0; }
  int64_t high() const { return value + half; }
  friend bool operator==(const PrintedDecimal&, const PrintedDecimal&) = default;
};

/// Reads digits with or without a point and an exponent ("15749", "0.30", "1.2e+08") as a whole
/// number of units of 10^-decimals. The result is empty for any other text, for one with a sign,
/// and for a number that has a fraction of a unit or exceeds 2^62 units. Requires decimals from 0
/// to 18.
std::optional<PrintedDecimal> read_decimal(std::string_view text, int decimals);

/// Returns a time in us in 7 characters, with at most two decimals and as many as fit, rounded half
/// up. From 10 s on it has an exponent.
std::string nccl_time_text(Duration time);

/// Returns a bandwidth in GB/s in 6 characters, in the same way.
std::string nccl_bandwidth_text(BytesPerSecond bandwidth);

/// These return figures of JSON, with six decimals (%lf), rounded half up. Times in us are then
/// exact.
std::string nccl_json_time(Duration time);
std::string nccl_json_bandwidth(BytesPerSecond bandwidth);

}  // namespace orrery
