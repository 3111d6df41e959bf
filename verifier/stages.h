#pragma once

// Stages computes the results of a program on a cluster, stage by stage. Each result is computed
// when it is first requested, and kept. So a caller that needs only times and memory pays for
// nothing else, and may ask in any order.
//
//   lowered -> memory
//           -> demands -> times (or the stop: where and why it does not end) -> slacks, path
//           -> proofs
//
// Lowering and the faults come first, in the constructor: faults change links, local times and
// starts, and everything after them follows. A stage takes what it needs and changes neither the
// program nor the cluster.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
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
#include "simulator/lower/choice.h"
#include "simulator/lower/lower.h"
#include "simulator/lower/schedule_maker.h"
#include "simulator/memory/profile.h"
#include "simulator/network/demand.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/program_walk.h"
#include "simulator/time/completion.h"
#include "verifier/prove/prover.h"

namespace orrery {

/// SharedWork is what several Stages, one after the other, make and find out once: schedules,
/// proofs about them, and, where only times are wanted, times of collectives. A thread must have a
/// SharedWork of its own. But several may have the same `schedules` and `times`.
struct SharedWork {
  std::shared_ptr<MadeSchedules> schedules = std::make_shared<MadeSchedules>();
  std::shared_ptr<KnownSchedules> known = std::make_shared<KnownSchedules>();
  struct Times {
    SharedMap<std::string, std::shared_ptr<QuietTimes>> of_cluster{size_t{1} << 8U};
    SharedMap<std::string, std::shared_ptr<AloneTimes>> of_fabric{size_t{1} << 8U};
  };
  std::shared_ptr<Times> times = std::make_shared<Times>();

  void forget_schedules() {
    schedules = std::make_shared<MadeSchedules>();
    known = std::make_shared<KnownSchedules>();
  }
};

struct StageOptions {
  Limits limits;
  uint64_t seed = 0;          // for faults that are drawn
  RaggedTables tables;        // of all sites that exchange by tables
  std::vector<Fault> faults;  // in the hardware
  MemoryPolicy memory;
  /// Slack is computed if the whole program has at most this many steps.
  uint64_t slack_budget = kStepsLookedAt;
  ProofBudget proof;
  ProofBudget race_search;
  /// Whether times() may lack what TimeOptions::only_times leaves out. With slack it lacks nothing.
  bool only_times = false;
  std::shared_ptr<SharedWork> shared = nullptr;  // null: what others did is not known
  ReplaceSchedule replace_schedule = nullptr;
};

/// Says whether slack is computed, or why not.
enum class SlackState : uint8_t { Computed, IterationsLeftOut, OverBudget };

/// A program with its loops as regions, beside the one that has some of their iterations written.
struct LoopedProgram {
  const Program& program;          // its sites are complete (with_sites() of unroll.h)
  const std::vector<OpRun>& runs;  // per op of the other program: what it is a run of
};

class Stages {
 public:
  /// The arguments that it refers to must outlive this object. Requires that `program` has no
  /// regions. If `program` leaves out iterations, the looped program is timed in its place. Without
  /// a looped program it is not timed, but its end is known. Adds errors of lowering to
  /// `diagnostics`; after an error no stage may be called.
  Stages(const Program& program, const Cluster& cluster, StageOptions options,
         Diagnostics& diagnostics, std::optional<LoopedProgram> looped = std::nullopt);
  Stages(const Stages&) = delete;
  Stages& operator=(const Stages&) = delete;

  const Program& program() const { return program_; }
  const Lowered& lowered() const { return lowered_; }

  /// Returns the program of which times, values and proofs are: the looped one if given, else
  /// `program`.
  const Program& program_to_run() const { return looped_ ? looped_->program : program_; }
  const Lowered& lowered_to_run();
  const FaultEffects& fault_effects() const { return fault_effects_; }
  /// Returns the links with their faults.
  const Fabric& fabric() const {
    return fault_effects_.fabric ? *fault_effects_.fabric : cluster_.fabric;
  }
  Paths& healthy_paths() { return healthy_paths_; }
  Paths& paths() { return faulty_paths_ ? *faulty_paths_ : healthy_paths_; }

  /// Returns whether every two devices that exchange a message have a route, with the faults.
  bool has_routes();

  /// Returns the traffic over the faulty fabric, or over the healthy one if a route is lost.
  const Demands& demands();

  const MemoryProfile& memory();

  /// Returns nothing if the program does not end, or a route is lost. `added` is per loop of the
  /// looped program. The last written run of an op has the time of the runs that are left out
  /// (Completion::not_kept).
  const std::optional<Completion>& times();

  /// Returns where the program stops, by a walk without time. This call is needed only if times()
  /// is empty: one pass over the steps gives the times and says whether the program ends.
  const Stop& stop();

  SlackState slack_state() const;

  /// Returns one entry per op. The result is empty without times, and where slack is not computed.
  const std::vector<std::optional<Duration>>& slacks();

  /// Returns the critical path, or why there is none. The ops are those of the program to run.
  /// Requires times.
  std::variant<std::vector<PathEntry>, std::string> critical_path();

  /// Returns the proofs of the sites of the program to run; equal schedules are proved once.
  Prover& prover();

  /// Returns the orders of walks, for further walks of the schedules.
  Orders& orders() { return shared_->known->orders; }
  ScheduleDigests& digests() { return shared_->known->digests; }

  /// The parts that a report keeps.
  struct Kept {
    Lowered lowered;
    std::optional<Fabric> fabric;  // with the faults; empty if there are none
  };
  Kept kept() && { return {std::move(lowered_), std::move(fault_effects_.fabric)}; }

 private:
  TimeOptions time_options() const;
  std::optional<Completion> time_looped();
  std::shared_ptr<QuietTimes> quiet_times() const;

  const Program& program_;
  const Cluster& cluster_;
  const StageOptions options_;
  const bool leaves_out_;  // iterations of loops
  const std::optional<LoopedProgram> looped_;
  const std::shared_ptr<SharedWork> shared_;
  const std::shared_ptr<MadeSchedules> schedules_;  // of `shared_`
  const std::shared_ptr<QuietTimes> quiet_times_;   // null: none are known
  Paths healthy_paths_;
  Lowered lowered_;
  std::optional<Lowered> lowered_loops_;  // of the looped program
  FaultEffects fault_effects_;
  std::optional<Paths> faulty_paths_;  // where the fabric has faults

  std::optional<bool> has_routes_;
  std::optional<Demands> demands_;
  std::optional<MemoryProfile> memory_;
  std::optional<std::optional<Completion>> times_;
  std::optional<Completion> looped_times_;  // of the looped program
  History history_;                         // of the timed run, within the slack budget
  std::optional<Stop> stop_;
  std::optional<std::vector<std::optional<Duration>>> slacks_;
  std::optional<Prover> prover_;
};

/// This says how long a program takes and how much memory its devices need, and nothing else. It
/// serves planners that call it often.
struct TimeAndMemory {
  std::optional<Duration> makespan;  // empty if the program does not end
  std::vector<Bytes> peaks;          // per device; 0 if it holds nothing
};

/// Computes the time and memory. Loops may be regions. Adds errors of lowering to `diagnostics`;
/// then the result is empty.
TimeAndMemory time_and_memory(const Program& program, const Cluster& cluster,
                              Diagnostics& diagnostics, StageOptions options = {});

}  // namespace orrery
