#pragma once

// This file prints quantities for people, each with its unit. They have four significant digits,
// rounded half up, without trailing zeros. The JSON report has the exact figures.

#include <cstdint>
#include <string>
#include <string_view>

#include "models/base/quantity.h"

namespace orrery {

/// Returns "0 s", "500 ps" or the like. With `ascii` microseconds are "us", without the micro sign.
std::string time_text(Duration duration, bool ascii = false);

/// Returns "0 B", "512 B", "4.75 MiB", "80 GiB" or the like. The units are powers of 1024.
std::string size_text(Bytes size);

/// Returns "0 chunks", "1 chunk", "2 chunks" or the like. Requires a noun whose plural adds an s.
std::string counted(int64_t count, std::string_view noun);

}  // namespace orrery
