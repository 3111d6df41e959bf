#pragma once

// The ops of a report as a table, with a line for each loop and each block of ops that repeats.

#include <cstddef>
#include <string>

#include "tools/report/repetitions.h"
#include "tools/report/style.h"
#include "verifier/report.h"

namespace orrery {

/// Longer ids are cut.
inline constexpr size_t kNameWidth = 18;

std::string op_table(const Report& report, const FoldedEntries& folded, const Style& style);

}  // namespace orrery
