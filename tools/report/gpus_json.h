#pragma once

// The key "gpus" of the JSON report.

#include "tools/report/json_writer.h"
#include "verifier/report.h"

namespace orrery {

/// Its value. Requires a report of a run on GPUs.
void write_gpus(JsonWriter& json, const Report& report);

}  // namespace orrery
