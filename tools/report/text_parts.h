#pragma once

// The larger parts of a text report: the checks; the table of all ops; the critical path as a
// paragraph of the report, and by itself.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/report/op_entries.h"
#include "tools/report/style.h"
#include "verifier/report.h"

namespace orrery {

/// Says whether checks that hold are shown one by one, or one line a name with their count.
enum class ShownChecks : uint8_t { Counted, All };

/// Returns the checks as lines of text, each in full. One that does not hold has its witness.
std::string checks_text(const std::vector<Check>& checks, const Style& style);

/// Returns the checks that fail or are undecided, each in full, with its witness. The text is "" if
/// all hold.
std::string checks_that_do_not_hold(const std::vector<Check>& checks, const Style& style);

/// Returns the checks that hold. A line that counts them says of how many of that name.
std::string checks_that_hold(const std::vector<Check>& checks, const Style& style,
                             ShownChecks shown);

/// An id has at most this many columns in a table. Longer ids are cut.
inline constexpr size_t kNameWidth = 18;

/// Says for which collectives the table has the share of their bound that they reached.
enum class ShownBounds : uint8_t { All, MissedByLinks };

/// Returns the ops of the report, with a line for each loop and each block that repeats. If there
/// are more than `most` entries, it has those that matter most, in the order of the program: those
/// on the critical path, and among equal ones those that take longest. A line says so.
std::string op_table(const Report& report, const GroupedEntries& grouped, size_t most,
                     ShownBounds bounds, const Style& style);

/// Says whether a block that comes several times in a row is shown once or each time.
enum class PathBlocks : uint8_t { Once, Each };

/// Returns the critical path as a paragraph, indented by 2: "device 0: 40 x (layer*.c 1 ms to 2 ms
/// -> layer*.s 3 us) = 44 ms". `entries` has every op of the path, and ops of one entry are alike.
/// A block that is shown once has all its devices, and the least and the most of its times.
std::string path_text(const Report& report, std::span<const OpEntry> entries, PathBlocks blocks,
                      const Style& style);

/// Returns the critical path op by op, and how far the other ops are from it. Requires a report
/// with times.
std::string critical_path_text(const Report& report, const Style& style);

}  // namespace orrery
