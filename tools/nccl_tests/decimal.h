#pragma once

// Decimals of tables, exactly, in whole small units ("12.83" us are 12830000 ps), and figures as
// nccl-tests prints them (NVIDIA/nccl-tests at a0b82b2, src/util.cu).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/base/quantity.h"

namespace orrery {

/// A decimal that was printed with some digits, in units of 10^-decimals of what was printed.
struct PrintedDecimal {
  int64_t value = 0;
  int64_t half = 0;  // half of the last digit's unit: what printing may have rounded, rounded up

  /// The least and the most that may have been printed so.
  int64_t low() const { return value > half ? value - half : 0; }
  int64_t high() const { return value + half; }
  friend bool operator==(const PrintedDecimal&, const PrintedDecimal&) = default;
};

/// Reads digits with or without a point and an exponent ("15749", "0.30", "1.2e+08"), as a whole
/// number of 10^-decimals. Empty where it is no such text, has a sign, is no whole number of these
/// units, or is above 2^62 of them. Requires decimals from 0 to 18.
std::optional<PrintedDecimal> read_decimal(std::string_view text, int decimals);

/// In us, of 7 characters: with as many of two decimals as fit, rounded half up; from 10 s on with
/// an exponent.
std::string nccl_time_text(Duration time);

/// In GB/s, of 6 characters, in the same way.
std::string nccl_bandwidth_text(BytesPerSecond bandwidth);

/// With six decimals (%lf), rounded half up: times in us are exact.
std::string nccl_json_time(Duration time);
std::string nccl_json_bandwidth(BytesPerSecond bandwidth);

}  // namespace orrery
