#pragma once

// Steps of type re that the runtimes run as one (msccl_transfers.h), and that are not the same as
// one after the other: with two counts, or with a source that the chain has written.

#include <optional>
#include <string>

#include "tools/import/msccl.h"
#include "tools/import/placement.h"

namespace orrery {

/// What the first such step does otherwise, with its line and that of the step before it.
std::optional<std::string> chained_otherwise(const MscclAlgorithm& algorithm, Placement placement);

}  // namespace orrery
