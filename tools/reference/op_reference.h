#pragma once

// The reference of all ops as Markdown, made from the rules. It is docs/ops.md.

#include <string>

namespace orrery {

/// The text that `orrery show ops --format markdown` prints.
std::string op_reference();

}  // namespace orrery
