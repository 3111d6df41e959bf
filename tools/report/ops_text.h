#pragma once

// The ops of a report as text: the table of all ops, the critical path as a paragraph of the
// report, and the critical path by itself.

#include <cstddef>
#include <span>
#include <string>

#include "tools/report/op_entries.h"
#include "tools/report/style.h"
#include "verifier/report.h"

namespace orrery {

/// Longer ids are cut.
inline constexpr size_t kNameWidth = 18;

std::string op_table(const Report& report, const FoldedEntries& folded, const Style& style);

/// How blocks that come several times in a row are shown.
enum class PathBlocks : uint8_t { Once, Each };

/// "device 0: 40 x (layer*.c 1 ms to 2 ms -> layer*.s 3 us) = 44 ms", indented by 2. `entries` has
/// every op of the path; ops of one entry are alike. Of a block that is shown once it gives all
/// devices, and the least and the most time.
std::string path_text(const Report& report, std::span<const OpEntry> entries, PathBlocks blocks,
                      const Style& style);

/// Requires a report with times.
std::string critical_path_text(const Report& report, const Style& style);

}  // namespace orrery
