#pragma once

// The ops of a report as it shows them: one entry for each op, and one for all iterations of an op
// of a loop's body.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "verifier/report.h"

namespace orrery {

struct OpEntry {
  std::string id;  // the op's name; in a loop without the indices: "l[].s"
  ThreadId thread;
  std::vector<const OpReport*> runs;  // at least one, in issue order
  std::string loop;                   // that it is in: "l[]"; empty outside loops
  uint64_t iterations = 1;            // those that are left out included
  /// How much later the last iteration began than the one before it. Empty without times, and for
  /// one iteration.
  std::optional<Duration> period;
  uint64_t messages = 0;  // of all iterations
  /// Those whose results are outputs or in an expectation, without the first and the last run.
  std::vector<const OpReport*> named = {};

  const OpReport& first() const { return *runs.front(); }
  const OpReport& last() const { return *runs.back(); }
};

/// In the order of the report's ops; in a loop that of its first iteration. Refers to the report.
std::vector<OpEntry> op_entries(const Report& report);

}  // namespace orrery
