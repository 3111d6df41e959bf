#pragma once

// The one way in which a file comes in.

#include <string>

#include "models/scenario/size_limits.h"

namespace orrery {

/// The bytes of the file. Throws InputError where it cannot be read, or has more than Limits::file
/// bytes, which are not read to their end.
std::string load_text(const std::string& path, const Limits& limits);

}  // namespace orrery
