#pragma once

// This reads and writes quantities as people write them: "50 GB/s", "1.5 us", "80 GiB". Reading is
// exact: a text that is not a whole number of the base unit (ps, B, B/s, FLOP, FLOP/s) is an error.
// Writing gives the shortest text that reads back to the same amount.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/base/quantity.h"

namespace orrery {

/// k is 1000 and Ki is 1024; b is a bit, and 8 b are 1 B. Case matters.
enum class Dimension : uint8_t {
  Time,      // ps ns us ms s
  Size,      // B kB MB GB TB KiB MiB GiB TiB
  Rate,      // the sizes per second, and kb/s Mb/s Gb/s Tb/s
  Work,      // FLOP kFLOP ... EFLOP: an operation of any dtype counts as one
  WorkRate,  // the same per second
};

struct QuantityUnit {
  std::string_view name;    // "GB/s"
  std::string_view suffix;  // for a key whose value is a whole number of it: "_GBps"; or empty
  int64_t scale = 1;        // base units in one
  bool written = true;      // whether quantity_text uses it
};
std::span<const QuantityUnit> units(Dimension dimension);

/// It holds the count of base units (never negative), or an error "expected ..., got ...".
struct QuantityReading {
  std::optional<int64_t> count;
  std::string error;
};
QuantityReading read_quantity(std::string_view text, Dimension dimension);

/// Returns a key without the suffix of a unit: "bf16" for "bf16_TFLOPps".
std::string_view without_suffix(std::string_view key, Dimension dimension);

/// Returns the hint for a key that is `quantity` with a suffix that is none of its units: "; did
/// you mean "alignment_bytes"?", or all suffixes. Returns "" for other keys.
std::string suffix_hint(std::string_view key, std::string_view quantity, Dimension dimension);

/// Reads digits as a whole number of `unit`.
QuantityReading read_count(std::string_view digits, const QuantityUnit& unit, Dimension dimension);

/// Reads a decimal as millionths. Returns nothing if they are not whole or leave 64 bits.
std::optional<int64_t> read_millionths(std::string_view digits);

/// Returns "a rate such as "50 GB/s"".
std::string example(Dimension dimension);

/// Returns the shortest text that reads back to `count` base units. Requires count >= 0.
std::string quantity_text(int64_t count, Dimension dimension);

inline std::string quantity_text(Duration time) {
  return quantity_text(time.count(), Dimension::Time);
}
inline std::string quantity_text(Bytes size) {
  return quantity_text(size.count(), Dimension::Size);
}
inline std::string quantity_text(BytesPerSecond rate) {
  return quantity_text(rate.count(), Dimension::Rate);
}
inline std::string quantity_text(Flops work) {
  return quantity_text(work.count(), Dimension::Work);
}
inline std::string quantity_text(FlopsPerSecond rate) {
  return quantity_text(rate.count(), Dimension::WorkRate);
}

}  // namespace orrery
