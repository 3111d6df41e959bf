#pragma once

// The results of a program on a cluster, stage by stage. Each result is computed when it is first
// requested, and kept. So a caller that needs only times and memory pays for nothing else, and may
// ask in any order.
//
//   lowered -> memory
//           -> demands -> times (or the stop: where and why it does not end) -> slacks, path
//           -> proofs
//
// Lowering and the faults come first, in the constructor: faults change links, local times and
// starts, and everything after them follows. A stage takes what it needs and changes neither the
// program nor the cluster.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/fabric/fabric.h"
#include "models/program/iterations.h"
#include "models/program/program.h"
#include "models/program/ragged.h"
#include "models/scenario/fault.h"
#include "models/scenario/scenario.h"
#include "models/scenario/size_limits.h"
#include "simulator/analyze/critical_path.h"
#include "simulator/event/recording.h"
#include "simulator/lower/faults.h"
#include "simulator/memory/profile.h"
#include "simulator/network/demand.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/program_walk.h"
#include "simulator/time/completion.h"
#include "verifier/prove/prover.h"

namespace orrery {

struct StageOptions {
  Limits limits;
  uint64_t seed = 0;          // for faults that are drawn
  RaggedTables tables;        // of all sites that exchange by tables
  std::vector<Fault> faults;  // in the hardware
  MemoryPolicy memory;
  /// Steps of the whole program up to which slack is computed.
  uint64_t slack_budget = kStepsLookedAt;
  ProofBudget proof;
  ProofBudget race_search;
};

/// Whether slack is computed, or why not.
enum class SlackState : uint8_t { Computed, IterationsLeftOut, OverBudget };

/// The program with loops as regions of which another one has some iterations.
struct LoopedProgram {
  const Program& program;          // its sites are complete (with_sites() of unroll.h)
  const std::vector<OpRun>& runs;  // per op of the other program: what it is a run of
};

class Stages {
 public:
  /// What is referred to must outlive this object. Requires that `program` has no regions. If it
  /// leaves out iterations, it is timed as the looped one; without that one it is not timed, but
  /// its end is known. Adds errors of lowering to `diagnostics`; after an error no stage may be
  /// called.
  Stages(const Program& program, const Cluster& cluster, StageOptions options,
         Diagnostics& diagnostics, std::optional<LoopedProgram> looped = std::nullopt);
  Stages(const Stages&) = delete;
  Stages& operator=(const Stages&) = delete;

  const Program& program() const { return program_; }
  const Lowered& lowered() const { return lowered_; }

  /// What is run for times and values: the looped program where it is given, else the program.
  const Program& program_to_run() const { return looped_ ? looped_->program : program_; }
  const Lowered& lowered_to_run();
  const FaultEffects& fault_effects() const { return fault_effects_; }
  /// The links with their faults.
  const Fabric& fabric() const {
    return fault_effects_.fabric ? *fault_effects_.fabric : cluster_.fabric;
  }
  Paths& healthy_paths() { return healthy_paths_; }
  Paths& paths() { return faulty_paths_ ? *faulty_paths_ : healthy_paths_; }

  /// Whether every pair of devices that exchanges a message has a route, with the faults.
  bool has_routes();

  /// The traffic over the faulty fabric, or over the healthy one if a route is lost.
  const Demands& demands();

  const MemoryProfile& memory();

  /// Empty if the program does not end, or a route is lost. `added` is per loop of the looped
  /// program. The last of the runs of an op that are written has the time of those that are left
  /// out.
  const std::optional<Completion>& times();

  /// Where the program stops, by a walk without time. Needed only if times() is empty: one pass
  /// over the steps gives the times and whether the program ends.
  const Stop& stop();

  SlackState slack_state() const;

  /// One entry per op; empty without times, and where slack is not computed.
  const std::vector<std::optional<Duration>>& slacks();

  /// Requires times, and a program with all iterations.
  std::vector<PathEntry> critical_path();

  /// The proofs of the sites; equal schedules are proved once.
  Prover& prover();

  /// The same for a collective of the program to run, by an op of it (Prover::folds).
  const ProvenanceRun* folds_to_run(const Op& op, const Collective& collective);

  /// The parts that a report keeps.
  struct Kept {
    Lowered lowered;
    std::optional<Fabric> fabric;  // with the faults; empty if there are none
  };
  Kept kept() && { return {std::move(lowered_), std::move(fault_effects_.fabric)}; }

 private:
  TimeOptions time_options() const;
  std::optional<Completion> time_looped();

  const Program& program_;
  const Cluster& cluster_;
  const StageOptions options_;
  const bool leaves_out_;  // iterations of loops
  const std::optional<LoopedProgram> looped_;
  Paths healthy_paths_;
  Lowered lowered_;
  std::optional<Lowered> lowered_loops_;  // of the looped program
  FaultEffects fault_effects_;
  std::optional<Paths> faulty_paths_;  // where the fabric has faults

  std::optional<bool> has_routes_;
  std::optional<Demands> demands_;
  std::optional<MemoryProfile> memory_;
  std::optional<std::optional<Completion>> times_;
  History history_;  // of the timed run, within the slack budget
  std::optional<Stop> stop_;
  std::optional<std::vector<std::optional<Duration>>> slacks_;
  std::optional<Prover> prover_;
  std::optional<Prover> loops_prover_;  // of the looped program
};

/// How long a program takes and how much memory its devices need, without anything else, for
/// planners that call it often.
struct TimeAndMemory {
  std::optional<Duration> makespan;  // empty if the program does not end
  std::vector<Bytes> peaks;          // per device; 0 if it holds nothing
};

/// Loops may be regions. Adds to `diagnostics` what cannot be lowered; then the result is empty.
TimeAndMemory time_and_memory(const Program& program, const Cluster& cluster,
                              Diagnostics& diagnostics, StageOptions options = {});

}  // namespace orrery
