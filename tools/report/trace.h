#pragma once

// A run as a Chrome trace, which opens in Perfetto (ui.perfetto.dev) and in chrome://tracing. One
// process a device, with a counter of its memory and a thread for its compute stream, for each
// communication stream and for each channel of one; one process for the links, with a thread for
// each; one for the critical path. An arrow joins each send to its receive.

#include <cstdint>
#include <limits>
#include <ostream>

#include "verifier/report.h"

namespace orrery {

struct TraceOptions {
  /// Collectives are written with their messages, in the program's order, as long as these are no
  /// more in all; from the first that would exceed it on, only as a whole.
  uint64_t most_messages = std::numeric_limits<uint64_t>::max();
};

struct TraceSize {
  uint64_t events = 0;
  uint64_t messages_left_out = 0;
};

/// Times are in microseconds, as the format has it, with six decimals: whole picoseconds, not
/// rounded. (Viewers keep nanoseconds.) Runs the timing once more, and writes as it goes: memory
/// grows with the members of the collectives, not with messages. Same report, same bytes. Requires
/// a report with times; whether `out` took everything is for the caller to ask.
TraceSize write_trace(const Report& report, std::ostream& out, const TraceOptions& options = {});

}  // namespace orrery
