#pragma once

// Puts findings about an imported algorithm in the words of its file: lines, gpus, thread blocks,
// channels, buffers i, o and s, and chunks.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/quantity.h"
#include "simulator/schedule/progress.h"
#include "simulator/schedule/stored_schedule.h"
#include "tools/import/msccl.h"
#include "tools/import/msccl_schedule.h"
#include "verifier/check/names.h"
#include "verifier/check/step_races.h"

namespace orrery {

/// Returns chunks in words: "buffer o, chunk 5 (4 KiB)", "buffer o, chunks 5 to 8 (4 KiB each)".
std::string chunks_text(const Slice& slice, Bytes chunk);

/// Returns the steps that wait for each other. A row says which step it is and what it waits for.
/// There are as many rows as rows_shown() says, and one for the rest. `parked` is the result of a
/// walk of the pieces; it is not empty.
Witness cycle_table(const MscclAlgorithm& algorithm, const CutSteps& cut,
                    const std::vector<Parked>& parked);

/// Returns a race in words: "gpu 0 tb 0 step 1 (r, line 5) writes and tb 1 step 0 (cpy, line 9)
/// reads buffer o, chunk 1 (4 KiB), and nothing orders the two".
std::string race_text(const MscclAlgorithm& algorithm, const CutSteps& cut,
                      MscclPlacement placement, const StepRace& race, Bytes chunk);

/// Returns a step of the file in words: "gpu 0 tb 1 step 3 (rrs, line 12)".
std::string step_text(const MscclAlgorithm& algorithm, StepRef step);

/// Names the first wait of last_nops(), which `runtime` does not make, and counts the others. The
/// result is empty if none of the nops waits.
std::optional<std::string> last_waits_note(const MscclAlgorithm& algorithm,
                                           std::string_view runtime);

/// Runtimes run a chain of re steps as one (msccl_steps.h). That is not the same as one after the
/// other if their counts differ, or if a source is something that the chain has written. Returns a
/// sentence on the first such step, with the lines of the two. The result is empty if there is
/// none.
std::optional<std::string> chained_otherwise(const MscclAlgorithm& algorithm,
                                             MscclPlacement placement);

}  // namespace orrery
