#pragma once

// Steps, chunks, hangs and races of an imported algorithm in the words of its file: lines, gpus,
// thread blocks, channels, buffers i, o and s, and chunks.

#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "simulator/schedule/progress.h"
#include "tools/import/message_pieces.h"
#include "tools/import/msccl.h"
#include "tools/import/placement.h"
#include "verifier/check/names.h"
#include "verifier/check/step_races.h"

namespace orrery {

/// "buffer o, chunk 5 (4 KiB)", "buffer o, chunks 5 to 8 (4 KiB each)".
std::string chunks_text(const Slice& slice, Bytes chunk);

/// The steps that wait for each other, one row each: who, and for what; as many as rows_shown()
/// says, and a row for the rest. `parked` is the result of a walk of the pieces, not
/// empty.
Witness cycle_table(const MscclAlgorithm& algorithm, const CutSteps& cut,
                    const std::vector<Parked>& parked);

/// "gpu 0 tb 0 step 1 (r, line 5) writes and tb 1 step 0 (cpy, line 9) reads buffer o, chunk 1 (4
/// KiB), and nothing orders the two"
std::string race_text(const MscclAlgorithm& algorithm, const CutSteps& cut, Placement placement,
                      const StepRace& race, Bytes chunk);

/// "gpu 0 tb 1 step 3 (rrs, line 12)": a step of the file.
std::string step_text(const MscclAlgorithm& algorithm, StepRef step);

}  // namespace orrery
