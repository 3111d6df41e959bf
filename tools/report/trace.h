#pragma once

// A run as a Chrome trace, for Perfetto (ui.perfetto.dev) and chrome://tracing. Each device is a
// process, with a counter of its memory and a thread for its compute stream, for each communication
// stream and for each channel of one. The links are one process, with a thread for each link, and
// the critical path is one. An arrow joins each send to its receive. What was measured on GPUs is
// in processes of its own, one for each virtual device.

#include <cstdint>
#include <limits>
#include <ostream>

#include "verifier/report.h"

namespace orrery {

struct TraceOptions {
  /// The most messages to write. Collectives are written in the program's order with their
  /// messages; from the first whose messages would exceed this on, without.
  uint64_t most_messages = std::numeric_limits<uint64_t>::max();
};

struct TraceSize {
  uint64_t events = 0;
  uint64_t messages_left_out = 0;
};

/// Times are in microseconds, as the format has it, with six decimals: whole picoseconds, not
/// rounded. (Viewers keep nanoseconds.) Runs the timing once more and writes while it runs: memory
/// grows with the collectives' members, not with messages. Same report, same bytes. Requires a
/// report with times; The caller checks whether `out` accepted everything.
TraceSize write_trace(const Report& report, std::ostream& out, const TraceOptions& options = {});

}  // namespace orrery
