#pragma once

// Writes a report for people. It says what happened when, what it cost, whether it fits, and what
// holds.
//
// This folder shows a Report (verifier/report.h) and works out nothing that the report lacks:
//   text.h        the whole report; text_parts.h, gpus.h and memory_text.cc make its
//                 larger parts
//   op_entries.h  which ops are shown as one: iterations of a loop, and blocks that repeat
//   json.h        the same report for programs; run_record.h reads it back
//   difference.h  the first differences of two runs
//   explain.h     why an op ran when it did
//   trace.h       a Chrome trace of the run
// Words, numbers and looks that these share are in figures.h and style.h.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/report/style.h"
#include "tools/report/text_parts.h"
#include "verifier/report.h"

namespace orrery {

/// Says whether ops of loops and of repeated blocks are shown once, or one by one.
enum class ShownOps : uint8_t { Grouped, All };

struct TextOptions {
  ShownOps ops = ShownOps::Grouped;
  ShownChecks checks = ShownChecks::Counted;

  /// Returns whether nothing is left out, however long the report is.
  bool is_whole() const { return ops == ShownOps::All || checks == ShownChecks::All; }
};

/// A report that is not whole has at most this many lines.
inline constexpr size_t kReportLines = 120;

/// Returns the report of one scenario. Its first line is the answer in short, and checks that do
/// not hold come next. Only names and messages exceed 100 columns.
std::string report_text(const Report& report, const Style& style, const TextOptions& options = {});

/// Returns what the devices hold at their peaks. Devices that differ in names only share their
/// lines, where "*" stands for what differs in a name.
std::string memory_text(const Report& report, const Style& style);

/// Returns "HOLDS", "UNDECIDED" or "DOES NOT HOLD".
std::string headline(Verdict verdict, const Style& style);

/// This is one line of the summary of several scenarios.
struct SummaryLine {
  std::string file;
  Verdict verdict = Verdict::Holds;  // Fails for a wrong input
  std::string makespan;              // empty if there is none
  std::string peak;
  std::string remark;  // the first check with that verdict; empty if it holds
};

SummaryLine summary_line(const Report& report, const Style& style);
std::string summary_text(const std::vector<SummaryLine>& lines, const Style& style);

}  // namespace orrery
