#pragma once

// Assembles the whole array of an output of which the devices hold parts.

#include <optional>

#include "models/array/tensor.h"
#include "models/scenario/scenario.h"
#include "simulator/values/values.h"

namespace orrery {

/// Returns the whole array. Takes each part from the first of the devices that have it. Along axes
/// over which the output is unreduced, the copies are added in their order, by the program's
/// numerics; copies of pred are added as s32. Returns nothing if a device has no value, as after a
/// hang.
std::optional<Tensor> assembled(const Scenario& scenario, const Boundary& boundary,
                                const DeviceValues& values);

}  // namespace orrery
