#pragma once

// Where the buffers of an imported algorithm lie: in one area if it is called in place, in two if
// not. Everything is in chunks.

#include <cstdint>
#include <optional>

#include "simulator/schedule/schedule.h"
#include "simulator/schedule/stored_schedule.h"
#include "simulator/values/provenance.h"
#include "tools/import/msccl.h"

namespace orrery {

enum class Placement : uint8_t { OutOfPlace, InPlace };

std::string_view name(Placement placement);  // "out of place", "in place"

/// Those that the file allows, out of place first.
std::vector<Placement> placements(const MscclAlgorithm& algorithm);

/// The areas, with the atomic rule for fused steps. `slots` is set.
Extent areas_of(const MscclAlgorithm& algorithm, Placement placement, uint32_t slots);

/// Where the operands and the results lie in the areas.
Buffers buffers_of(const MscclAlgorithm& algorithm, Placement placement);

/// A slice of the file's buffers in the areas. In place, an all-gather's input is the gpu's own
/// part of the one buffer, and so is a reduce-scatter's output.
Slice placed(const MscclAlgorithm& algorithm, Placement placement, Node gpu, const Slice& slice);
StoredSteps placed_steps(const MscclAlgorithm& algorithm, Placement placement);

}  // namespace orrery
