#pragma once

// Quantities as people read them, each with its unit: four significant digits, rounded half up,
// without trailing zeros. Exact figures are in the JSON report.

#include <string>

#include "models/base/quantity.h"

namespace orrery {

/// "0 s", "500 ps", "12.34 µs"; with `ascii`, "12.34 us".
std::string time_text(Duration duration, bool ascii = false);

/// "0 B", "512 B", "4.75 MiB", "80 GiB": powers of 1024.
std::string size_text(Bytes size);

}  // namespace orrery
