#pragma once

// Quantities as people read them, each with its unit: four significant digits, rounded half up, no
// zeros after the last that counts. Exact figures are in the JSON report.

#include <cstdint>
#include <string>

#include "models/base/quantity.h"

namespace orrery {

/// "0 s", "500 ps", "12.34 µs"; with `ascii`, "12.34 us".
std::string time_text(Duration duration, bool ascii = false);

/// "0 B", "512 B", "4.75 MiB", "80 GiB": powers of 1024.
std::string size_text(Bytes size);

/// `part` of `whole` in percent, one decimal: "12.5 %". Requires whole > 0.
std::string percent_text(Bytes part, Bytes whole);

/// "12.5 %" for 0.125.
std::string share_text(double share);

/// "1,048,576".
std::string grouped(uint64_t number);

}  // namespace orrery
