#pragma once

// Shows a run on GPUs in reports: the measurements as text, and as the key "gpus" of the JSON
// report.

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

/// The times of the measured runs of the whole program.
struct RunTimes {
  Duration median;  // for an even number of runs the mean of the middle two, rounded down
  Duration least;
  Duration largest;
};

/// Returns the times of the runs. The result is empty without measured runs.
std::optional<RunTimes> run_times(const cuda::Measurement& measurement);

using MeasuredSpan = cuda::MeasuredSpan;  // times count from the start of the measured run

/// Returns the span of each op on each device, from the first of its kernels and copies to the
/// last. Ops that need none have no span.
std::map<std::pair<OpId, LogicalId>, MeasuredSpan> spans_on_devices(
    const cuda::Measurement& measurement);

/// Returns the span of each op over all devices.
std::map<OpId, MeasuredSpan> spans_of_ops(const cuda::Measurement& measurement);

/// This says how fast a collective moved its bytes. docs/cuda.md, "Bytes per second", says which
/// are counted.
struct MovedBytes {
  Bytes bytes;                      // read and written, on all devices
  BytesPerSecond rate;              // over the op's time; rounded down
  std::optional<double> of_copies;  // as a fraction of the bytes per second of copies alone
};

/// Returns nothing for an op that moves nothing, or whose span takes no time.
std::optional<MovedBytes> moved_bytes(const cuda::Measurement& measurement, OpId op,
                                      const MeasuredSpan& span);

/// Writes the value of the key "gpus". Requires a report of a run on GPUs.
void write_gpus(JsonWriter& json, const Report& report);

/// Returns the GPUs, the graph, and the measured times beside the simulated ones, without a
/// heading. Requires a report of a run on GPUs.
std::string gpus_text(const Report& report, const GroupedEntries& grouped, const Style& style);

}  // namespace orrery
