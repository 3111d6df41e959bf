#pragma once

// Judges an imported algorithm as a runtime runs it. The checks say whether the runtime takes the
// file, whether the algorithm ends with the slots of its connections, whether its steps race, and
// whether it computes its collective for all values. It is also timed on a cluster (prove_time.cc),
// by the rules of our own collectives: a protocol of the cluster's transport passes its messages.
//
// A file is for a range of sizes. Hangs are judged at the largest size, where a message has the
// fewest chunks. Races are judged at each number of chunks that a message can have. Values are
// judged for all inputs by provenance, which does not depend on the size. Only the time is of one
// size.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/fabric/fabric.h"
#include "simulator/analyze/collective_figures.h"
#include "simulator/time/completion.h"
#include "tools/import/chunk_definition.h"
#include "tools/import/judged_sizes.h"
#include "tools/import/msccl.h"
#include "tools/import/msccl_schedule.h"
#include "tools/import/runtime.h"
#include "verifier/report.h"

namespace orrery {

struct ProofRequest {
  std::optional<uint32_t> slots = {};  // empty: those of the runtime for the protocol
  /// The size of the whole buffer, which is the "size" of nccl-tests. If it is empty, the file is
  /// judged for every size that it is for, and times are of 1 MiB or of the nearest such size.
  std::optional<Bytes> size = {};
  const Cluster* cluster = nullptr;   // null: no time is computed; else it needs a device per gpu
  const Runtime* runtime = nullptr;   // null: runtime_of() the file
  std::optional<uint32_t> root = {};  // only for a rooted collective; empty: 0
  /// The expected outputs; null for those of the algorithm's own collective. A custom one needs a
  /// definition.
  const ChunkDefinition* definition = nullptr;
  Limits limits = {};
};

struct AlgorithmTime {
  Completion completion;
  std::optional<Bandwidths> bandwidths;  // empty for a custom collective, and if it takes no time
  std::vector<std::string> labels;       // what it assumes
  std::string protocol;                  // that passes the messages: "ll"
};

/// All that the time of an algorithm depends on, besides the cluster.
struct TimedCall {
  const MscclAlgorithm& algorithm;
  const Runtime& runtime;
  const JudgedSizes& sizes;
  MscclPlacement placement;
  uint32_t slots;
};

/// Returns the time at the size of times (JudgedSizes::size). Each thread block is a channel.
///
/// The protocol that the file names passes the messages, with the figures that it gives a
/// collective of ours. If the cluster has none of that name for the collective, the fastest of
/// those that serve our algorithms for it does. Without any, messages have the runtime's flags and
/// take their links alone. A runtime with slots cuts messages; without one, the protocol does.
///
/// The result is empty if the algorithm hangs with its messages cut so. Throws InputError if the
/// cluster lacks a route or a limit is exceeded.
std::optional<AlgorithmTime> time_on(const Cluster& cluster, const TimedCall& call,
                                     const Limits& limits);

struct AlgorithmProof {
  /// The checks: RUNTIME.LIMITS unless the runtime has no limits, DEADLOCK.FREE, and for each
  /// placement RACE.FREE and SCHEDULE.PROVED. The last two are left out if the algorithm hangs with
  /// any number of slots. They hold for every number of slots with which it ends.
  std::vector<Check> checks;
  bool holds = true;
  /// The fewest slots with which it ends at every size; empty if it hangs with any number.
  std::optional<uint32_t> least_slots;
  Bytes size;   // the one of times and texts, rounded up to whole f32 per chunk
  Bytes chunk;  // one chunk at that size
  uint64_t steps = 0;
  bool in_place = false;  // whether the runtime calls it so
  bool out_of_place = false;
  std::vector<std::string> notes;     // how messages are cut, what was read leniently
  std::optional<AlgorithmTime> time;  // if it ends at `size` and a cluster was given
};

/// Judges the algorithm. Throws InputError. The error names the algorithm's file if the cluster has
/// too few devices or lacks a route, if a custom collective has no definition, or if a limit is
/// exceeded. It names "--root" if the root is not a gpu or the collective has none.
AlgorithmProof prove_algorithm(const MscclAlgorithm& algorithm, const ProofRequest& request);

}  // namespace orrery
