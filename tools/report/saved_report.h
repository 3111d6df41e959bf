#pragma once

// Reads a JSON report back (json.h). Unknown keys are ignored: later versions of orrery may write
// more.

#include <string>

#include "models/scenario/document.h"
#include "tools/report/run_record.h"

namespace orrery {

/// Whether the document is a report, or a list of them, and not a scenario.
bool is_report(DocumentNode root);

/// Throws InputError, with all errors, where it is not the report of one run.
RunRecord read_saved_report(DocumentNode root, Diagnostics& diagnostics);

}  // namespace orrery
