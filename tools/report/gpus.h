#pragma once

// A run on GPUs in reports: what was measured, as text, and as the key "gpus" of the JSON report.

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "models/base/id.h"
#include "models/base/quantity.h"
#include "tools/report/json_writer.h"
#include "tools/report/op_entries.h"
#include "tools/report/style.h"
#include "verifier/report.h"

namespace orrery {

/// Of the measured runs of the whole.
struct RunTimes {
  Duration median;  // of an even number of runs between the middle two, rounded down
  Duration least;
  Duration largest;
};

/// Empty without measured runs.
std::optional<RunTimes> run_times(const cuda::Measurement& measurement);

using MeasuredSpan = cuda::MeasuredSpan;  // from the start of the measured run on

/// Of each op on each device, from the first of its kernels and copies to the last. Ops that need
/// none have no span.
std::map<std::pair<OpId, LogicalId>, MeasuredSpan> spans_on_devices(
    const cuda::Measurement& measurement);

/// Of each op over all devices.
std::map<OpId, MeasuredSpan> spans_of_ops(const cuda::Measurement& measurement);

/// How fast a collective op moved its bytes. docs/cuda.md, "Bytes per second", says what is
/// counted.
struct MovedBytes {
  Bytes bytes;                      // read and written, on all devices
  BytesPerSecond rate;              // over the op's time; rounded down
  std::optional<double> of_copies;  // a fraction of what copies alone read and write per second
};

/// Empty for an op that moves nothing, or whose span is none.
std::optional<MovedBytes> moved_bytes(const cuda::Measurement& measurement, OpId op,
                                      const MeasuredSpan& span);

/// Its value. Requires a report of a run on GPUs.
void write_gpus(JsonWriter& json, const Report& report);

/// Without a heading. Requires a report of a run on GPUs.
std::string gpus_text(const Report& report, const FoldedEntries& folded, const Style& style);

}  // namespace orrery
