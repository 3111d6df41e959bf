#pragma once

// This is the library's front door: one scenario in, one report out. run() takes these steps:
//  1. It writes the iterations of loops: all of them where that is cheap (long_loops.h). Where some
//     are left out, times and values are those of the program with regions, and expectations on
//     values of first iterations are judged before, by a run of these iterations alone.
//  2. It finds the tables of ragged exchanges (ragged/ragged_tables.h).
//  3. It lowers the program, and the stages (stages.h) answer how long it takes, how much memory it
//     needs, what its values are, and where it stops if it does not end.
//  4. Checks (check/), comparisons with definitions (definition/) and proofs (prove/) judge these
//     results. Each gives a verdict (verdict.h).
//  5. The scenario's expectations are judged by the results and the checks (expect/).
//  6. The report (report.h) gets its labels and rows (report/), and a fingerprint.
// With GPUs, step 3 also runs the program there (gpus/), and compares the two runs.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "models/scenario/scenario.h"
#include "models/scenario/size_limits.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/values/values.h"
#include "verifier/gpus/gpu_options.h"
#include "verifier/report.h"

namespace orrery {

struct SharedWork;
struct TableOptions;

/// Says whether to move data. Auto moves data when all values together fit `data_budget`, and they
/// take few ops (`values_budget`) or an expectation needs them.
enum class Data : uint8_t { Auto, On, Off };

/// Says what is read of a report. With Checks it has the same checks, verdicts, values, memory and
/// times, and neither labels, rows, slack, the critical path nor a fingerprint. Tests of properties
/// run many small scenarios so. With Figures it has the same memory, times and labels of figures,
/// and no check but why a program does not end. Plans time many scenarios so.
enum class Wanted : uint8_t { All, Checks, Figures };

struct RunOptions {
  uint64_t seed = 0;
  Data data = Data::Auto;
  Wanted wanted = Wanted::All;
  /// With Wanted::Figures: whether times are wanted, given the memory. If it is empty, they are.
  std::function<bool(const MemoryProfile& memory)> times_if = {};
  Bytes data_budget = Bytes(int64_t{1} << 30);
  /// A schedule with more steps than this is proved only if a property asks for it.
  uint64_t proof_budget = 1'000'000;
  /// This is the same limit in pieces (ProofBudget::pieces). It is above those of usual schedules.
  uint64_t proof_piece_budget = 16'000'000;
  /// The slack of ops is computed if the whole program has at most this many steps.
  uint64_t slack_budget = kStepsLookedAt;
  /// The report shows every iteration of a loop, and slack, if the ops over all devices are at most
  /// this many. Otherwise it leaves iterations out (models/program/program.h). If the number is
  /// empty, it shows every iteration, and a program beyond the limits is refused.
  std::optional<uint64_t> most_ops_shown = 200'000;
  /// Where iterations are left out and no expectation needs values, Data::Auto computes them if the
  /// ops over all devices, in all iterations, are at most this many.
  uint64_t values_budget = 500'000;
  /// If this is given, the report has the values of the GPUs, and they are compared with the
  /// host's.
  std::optional<GpuOptions> gpus = {};
  /// If this is given, it replaces each schedule that lowering makes. So a schedule of one's own is
  /// timed, run, compared with the definition and proved as ours are.
  ReplaceSchedule replace_schedule = nullptr;
  /// These compute the values on the host, so that kernels of one's own are checked.
  HostKernels kernels = {};
  /// Runs that are given the same work make and prove equal schedules once. Results are the same.
  /// Only one of these runs may be under way at a time. They must replace schedules alike.
  std::shared_ptr<SharedWork> shared = nullptr;
  /// A program beyond these limits is refused (models/scenario/size_limits.h).
  Limits limits;
};

/// Returns work to be shared by runs. It is forgotten when it is much. If `other` is given, which
/// another thread may be using, schedules and times are shared with that one too.
std::shared_ptr<SharedWork> shared_work(const SharedWork* other = nullptr);

/// Returns the message for a quantity that exceeds 64 bits.
std::string too_large(const Overflow& overflow);

/// Returns the scenario with another threshold of a reshard, which is named by its first result,
/// and of those at its site. Throws InputError if the program cannot be so.
Scenario with_threshold(Scenario scenario, std::string_view reshard, Bytes threshold,
                        const Limits& limits);

/// Returns the scenario with a threshold for each reshard that has none: a third of the least that
/// its devices have left (threshold_of_devices), from the memory that they hold before it. Without
/// the devices' memory, such a reshard stays without a threshold. `scenario` is not null.
std::shared_ptr<const Scenario> with_thresholds(std::shared_ptr<const Scenario> scenario,
                                                const RunOptions& options);

/// Returns how a run with these options finds the tables of ragged exchanges.
TableOptions table_options(const RunOptions& options);

/// Runs the scenario. Throws InputError for a scenario that cannot be lowered (no route, unknown
/// rate) or is too large (a limit, or a quantity that exceeds 64 bits). With `gpus` it throws
/// NoGpus where there are none, TooLittleGpuMemory, and GpuFailure. With `fast_dot` it also throws
/// NoFastDot.
Report run(Scenario scenario, const RunOptions& options);

/// Does the same without a copy of the scenario, which may be run several times. `scenario` is not
/// null.
Report run(std::shared_ptr<const Scenario> scenario, const RunOptions& options);

}  // namespace orrery
