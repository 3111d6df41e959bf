#pragma once

// The reference of all ops as Markdown, made from the rules: docs/ops.md.

#include <string>

namespace orrery {

/// What `orrery show ops --format markdown` prints.
std::string op_reference();

}  // namespace orrery
