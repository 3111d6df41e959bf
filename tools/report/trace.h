#pragma once

// Writes a run as a Chrome trace, for Perfetto (ui.perfetto.dev) and chrome://tracing.
//
// Each device is a process, with a counter of its memory and a thread for its compute stream, for
// each communication stream and for each channel of one. The links are one process with a thread
// for each link, and the critical path is a process too. An arrow joins each send to its receive.
// Virtual devices that were measured on GPUs have processes of their own.

#include <cstdint>
#include <limits>
#include <ostream>

#include "verifier/report.h"

namespace orrery {

struct TraceOptions {
  /// At most this many messages are written. Collectives are written in the program's order. From
  /// the first whose messages would exceed this number on, they are written without messages.
  uint64_t most_messages = std::numeric_limits<uint64_t>::max();
};

struct TraceSize {
  uint64_t events = 0;
  uint64_t messages_left_out = 0;
};

/// Runs the timing once more and writes while it runs. So memory grows with the collectives'
/// members and not with messages. Times are in microseconds with six decimals, so no picosecond is
/// lost (viewers keep nanoseconds). The same report gives the same bytes. Requires a report with
/// times. The caller checks whether `out` accepted everything.
TraceSize write_trace(const Report& report, std::ostream& out, const TraceOptions& options = {});

}  // namespace orrery
