#pragma once

// Checks of an imported algorithm: whether it ends with the slots of its connections, whether it
// computes its collective for all values, whether steps race, and how long it takes on a cluster.
// All use the same schedule, made by stored_schedule().

#include <cstdint>
#include <optional>

#include "models/fabric/fabric.h"
#include "simulator/analyze/collective_figures.h"
#include "simulator/time/completion.h"
#include "tools/import/msccl.h"
#include "verifier/report.h"

namespace orrery {

struct ProofRequest {
  uint32_t slots = 2;
  Bytes size = Bytes(int64_t{1} << 20);  // of the whole buffer: nccl-tests' "size"
  const Cluster* cluster = nullptr;      // empty: no time; else with a device for each gpu
};

struct AlgorithmTime {
  Completion completion;
  std::optional<Bandwidths> bandwidths;  // empty where it takes no time
  std::vector<std::string> labels;       // what it assumes
};

struct AlgorithmProof {
  /// DEADLOCK.FREE, RACE.FREE and SCHEDULE.PROVED. The last two are checked with as many slots as
  /// the algorithm needs, since its results do not depend on the slots.
  std::vector<Check> checks;
  bool holds = true;
  std::optional<uint32_t> least_slots;  // empty: it hangs with any number of slots
  Bytes size;                           // as asked for, rounded up to whole f32 per chunk
  uint64_t steps = 0;
  std::optional<AlgorithmTime> time;  // where it ends and a cluster was given
};

/// Throws InputError (of the algorithm's file) where the cluster has too few devices or no route.
AlgorithmProof prove_algorithm(const MscclAlgorithm& algorithm, const ProofRequest& request);

}  // namespace orrery
