#pragma once

// The critical path as a paragraph.

#include <span>
#include <string>

#include "tools/report/op_entries.h"
#include "tools/report/style.h"
#include "verifier/report.h"

namespace orrery {

/// How blocks that come several times in a row are shown.
enum class PathBlocks : uint8_t { Once, Each };

/// "device 0: 40 x (layer*.c 1 ms to 2 ms -> layer*.s 3 us) = 44 ms", indented by 2. `entries` has
/// every op of the path; ops of one entry are alike. Of a block that is shown once it gives all
/// devices, and the least and the most time.
std::string path_text(const Report& report, std::span<const OpEntry> entries, PathBlocks blocks,
                      const Style& style);

}  // namespace orrery
