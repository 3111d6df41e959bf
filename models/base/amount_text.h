#pragma once

// Quantities as people read them, each with its unit: four significant digits, rounded half up,
// without trailing zeros. Exact figures are in the JSON report.

#include <cstdint>
#include <string>
#include <string_view>

#include "models/base/quantity.h"

namespace orrery {

/// "0 s", "500 ps", "12.34 µs"; with `ascii`, "12.34 us".
std::string time_text(Duration duration, bool ascii = false);

/// "0 B", "512 B", "4.75 MiB", "80 GiB": powers of 1024.
std::string size_text(Bytes size);

/// "0 chunks", "1 chunk", "2 chunks": a noun whose plural ends in s.
std::string counted(int64_t count, std::string_view noun);

}  // namespace orrery
