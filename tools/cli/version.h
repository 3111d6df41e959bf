#pragma once

#include <string>

namespace orrery {

/// Returns the version and the commit: "orrery 0.1.0 (commit 0123456789ab)".
std::string version_text();

}  // namespace orrery
