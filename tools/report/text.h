#pragma once

// A report for people: what happened when, what it cost, what fits, what holds.

#include <string>
#include <vector>

#include "tools/report/style.h"
#include "verifier/report.h"

namespace orrery {

/// The whole report of one scenario, within 100 columns but for names and messages that are longer.
std::string report_text(const Report& report, const Style& style);

/// "HOLDS", "UNDECIDED" or "DOES NOT HOLD".
std::string headline(Verdict verdict, const Style& style);

/// One line a check; what does not hold is followed by its witness.
std::string checks_text(const std::vector<Check>& checks, const Style& style);

/// One line of the summary of several scenarios.
struct SummaryLine {
  std::string file;
  Verdict verdict = Verdict::Holds;  // an input that is wrong fails
  std::string makespan;              // empty where there is none
  std::string peak;
  std::string remark;  // the first check with that verdict, unless it holds
};

SummaryLine summary_line(const Report& report, const Style& style);
std::string summary_text(const std::vector<SummaryLine>& lines, const Style& style);

}  // namespace orrery
