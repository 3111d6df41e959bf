#pragma once

// Which input elements each output element is made of: the walk with sets of contributions in the
// place of numbers. What it proves holds for all values of all dtypes.

#include <optional>
#include <string>
#include <vector>

#include "simulator/schedule/digest.h"
#include "simulator/schedule/progress.h"
#include "simulator/schedule/schedule.h"
#include "simulator/values/piece_map.h"

namespace orrery {

struct ProvenanceRun {
  /// Per node: the pieces of the output area (of the input area for an in-place schedule),
  /// ascending, covering it, neighbours merged where they are made alike.
  std::vector<Pieces> outputs;
  /// The reductions that steps made, ascending, each once: `outputs` says how often an element
  /// went in, and these say by which operation.
  std::vector<Combine> combines;
  Digest digest;
  std::vector<Parked> stuck;  // channels that could not go on
  /// The first step that did what has no meaning: read elements that nothing had written, left its
  /// area, or took a message of another length. Later pieces count as undefined where it did.
  std::optional<std::string> misread;
};

/// Walks `schedule` once with all nodes entering. Every node's input element j begins as its own.
/// Time and memory grow with the steps and the pieces, not with the elements.
ProvenanceRun provenance(const Schedule& schedule, CollectiveId id, Bytes itemsize);

}  // namespace orrery
