#pragma once

// Checks of an imported algorithm: whether it ends with the slots of its connections, whether its
// steps race, whether it computes its collective for all values, and how long it takes on a
// cluster.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/fabric/fabric.h"
#include "simulator/analyze/collective_figures.h"
#include "simulator/time/completion.h"
#include "tools/import/chunk_definition.h"
#include "tools/import/msccl.h"
#include "tools/import/runtime.h"
#include "verifier/report.h"

namespace orrery {

struct ProofRequest {
  std::optional<uint32_t> slots = {};  // empty: those of the runtime for the protocol
  /// Of the whole buffer: nccl-tests' "size". Empty: every size that the file is for; times are of
  /// 1 MiB, or of the nearest of these sizes.
  std::optional<Bytes> size = {};
  const Cluster* cluster = nullptr;   // empty: no time; else with a device for each gpu
  const Runtime* runtime = nullptr;   // empty: runtime_of() the file
  std::optional<uint32_t> root = {};  // of a rooted collective; empty: 0
  /// What the outputs must be; empty: the algorithm's own collective. A custom one needs it.
  const ChunkDefinition* definition = nullptr;
  Limits limits = {};
};

struct AlgorithmTime {
  Completion completion;
  std::optional<Bandwidths>
      bandwidths;                   // empty for a custom collective, and where it takes no time
  std::vector<std::string> labels;  // what it assumes
};

struct AlgorithmProof {
  /// RUNTIME.LIMITS unless the runtime has none, DEADLOCK.FREE, and for each placement RACE.FREE
  /// and SCHEDULE.PROVED. The last two are left out where it hangs with any number of slots, and
  /// hold for any number with which it ends.
  std::vector<Check> checks;
  bool holds = true;
  /// At each of the sizes. Empty: it hangs with any number of slots.
  std::optional<uint32_t> least_slots;
  Bytes size;   // of times and texts, rounded up to whole f32 per chunk
  Bytes chunk;  // one chunk of it
  uint64_t steps = 0;
  bool in_place = false;  // how the runtime calls it
  bool out_of_place = false;
  std::vector<std::string> notes;     // how messages are cut, what was read leniently
  std::optional<AlgorithmTime> time;  // where it ends at `size` and a cluster was given
};

/// Throws InputError (of the algorithm's file) where the cluster has too few devices or no route,
/// a custom collective has no definition, or a limit is exceeded; of "--root" where that is no gpu
/// or nothing asks for one.
AlgorithmProof prove_algorithm(const MscclAlgorithm& algorithm, const ProofRequest& request);

}  // namespace orrery
