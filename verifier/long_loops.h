#pragma once

// How a run treats loops. Their iterations are written (models/program/unroll.h). If the program
// with all of them is not too large, it is run, so that every iteration can be queried. Else
// iterations in the middle of long loops are left out, and the program with regions is run.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/program/iterations.h"
#include "models/program/program.h"
#include "models/program/unroll.h"
#include "models/scenario/fault.h"
#include "models/scenario/scenario.h"
#include "models/scenario/size_limits.h"
#include "simulator/time/completion.h"

namespace orrery {

/// When iterations are written out.
struct WantedIterations {
  uint64_t budget = 0;                        // up to so many ops over all devices
  bool for_values = false;                    // values are asked for, which may need them
  LongLoops long_loops = LongLoops::LeftOut;  // WrittenOut: single ones are asked for
};

/// A scenario, and what is run of it.
struct ScenarioToRun {
  std::shared_ptr<const Scenario> given;  // its loops may be regions
  std::shared_ptr<const Scenario> written;
  std::vector<OpRun> runs;  // per op of `written`: what it is a run of in `given`
  /// Per value of `given`: what it is in `written`. Empty if `given` has no loops.
  std::vector<std::optional<ValueId>> values = {};
  /// The program of `given`, with the groups of all sites, if `written` leaves out iterations, and
  /// no op meets those of another iteration.
  std::optional<Program> looped = {};
};

/// The scenario with all iterations of its loops, where they are few or asked for. Within the
/// limits so too where jitter makes each iteration another, and where ops of different iterations
/// meet. Else with those in the middle of long loops left out. Values need all written where ops of
/// different iterations meet and with ragged exchanges. Throws InputError if those that are asked
/// for exceed the limits.
ScenarioToRun with_iterations(std::shared_ptr<const Scenario> scenario, const Limits& limits,
                              const WantedIterations& iterations);

/// A scenario with the first iterations of its loops only.
struct FirstIterations {
  Scenario scenario;            // its expectations are those that are decided
  std::vector<size_t> decided;  // their indices among the expectations of the given one
};

/// The expectations on values that first iterations decide as all of them would. Empty if there are
/// none. Tries the numbers of iterations that the expectations name, the largest first. Cuts the
/// outermost loops to that many, or else all loops. Takes the first cut that decides an expectation
/// with at most `budget` ops over all devices, within the limits. Requires that no op meets those
/// of another iteration.
std::optional<FirstIterations> first_iterations(const Scenario& given, uint64_t budget,
                                                const Limits& limits);

/// Whether a local op takes another time in each iteration.
bool has_jitter_of_ops(std::span<const Fault> faults);

/// Ops over all devices, each as often as it runs; at most 2^63 - 1.
uint64_t device_ops_with_all_iterations(const Program& program);

/// The message for a program whose ops, each as often as it runs, exceed the limits; else "".
std::string beyond_limits(const Program& program, const Limits& limits);

/// What a report says of a program that leaves out iterations: which it shows, and why.
std::string shown_label(const Program& program, uint64_t budget);

/// What a report says of iterations that were added up, per loop of the program with regions: at
/// most 8 lines, and one with the number of the other loops.
std::vector<std::string> added_labels(const Program& looped,
                                      const std::vector<AddedIterations>& added);

}  // namespace orrery
