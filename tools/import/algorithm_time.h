#pragma once

// How long an imported algorithm takes on a cluster.

#include <memory>

#include "simulator/schedule/schedule.h"
#include "tools/import/prove.h"

namespace orrery {

/// The time of a schedule that ends and has its routes. `program` is the algorithm's, as
/// program_of() makes it. What a protocol sends beside the data takes its share of every link.
AlgorithmTime algorithm_time(const MscclAlgorithm& algorithm,
                             std::unique_ptr<const Schedule> schedule, const Program& program,
                             const Cluster& cluster, const Runtime& runtime);

}  // namespace orrery
