#pragma once

// This file decides how a run treats loops. Their iterations are written (models/program/unroll.h).
// If the program with all of them is not too large, it is run, so that every iteration can be
// queried. Otherwise iterations in the middle of long loops are left out, and the program with
// regions is run.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/program/iterations.h"
#include "models/program/program.h"
#include "models/scenario/fault.h"
#include "models/scenario/scenario.h"
#include "models/scenario/size_limits.h"
#include "simulator/time/completion.h"

namespace orrery {

/// These settings say when iterations are written out.
struct WantedIterations {
  std::optional<uint64_t> budget = 0;  // up to so many ops over all devices; empty: in any case
  bool for_values = false;             // values are asked for, which may need them
};

/// A scenario, and the form of it that is run.
struct ScenarioToRun {
  std::shared_ptr<const Scenario> given;  // its loops may be regions
  std::shared_ptr<const Scenario> written;
  std::vector<OpRun> runs;  // per op of `written`: what it is a run of in `given`
  /// Per value of `given`: the last value written for it, or nothing. The list is empty if `given`
  /// has no loops.
  std::vector<std::optional<ValueId>> values = {};
  /// This is the program of `given`, with the groups of all sites. It is present if `written`
  /// leaves out iterations, and no op meets ops of another iteration.
  std::optional<Program> looped = {};
};

/// Returns the scenario with all iterations of its loops, where these are few or asked for. Within
/// the limits, all iterations are also written if jitter makes each of them different, or if ops of
/// different iterations meet. Otherwise iterations in the middle of long loops are left out. To
/// compute values, all iterations are written where ops of different iterations meet, and with
/// ragged exchanges. Throws InputError if iterations that are asked for exceed the limits.
ScenarioToRun with_iterations(std::shared_ptr<const Scenario> scenario, const Limits& limits,
                              const WantedIterations& iterations);

/// This is a scenario with only the first iterations of its loops.
struct FirstIterations {
  Scenario scenario;            // its expectations are those that are decided
  std::vector<size_t> decided;  // their indices among the expectations of the given one
};

/// Returns the expectations on values that the first iterations decide as all iterations would.
/// Returns nothing if there are none. Tries the numbers of iterations that the expectations name,
/// the largest first. For each number, it cuts the outermost loops to that many iterations, then
/// all loops. Takes the first cut that decides an expectation with at most `budget` ops over all
/// devices, within the limits. Requires that no op meets ops of another iteration.
std::optional<FirstIterations> first_iterations(const Scenario& given, uint64_t budget,
                                                const Limits& limits);

/// Returns whether some member never comes to a collective. Then the program cannot end.
bool has_absent(const Program& program);

/// Returns whether jitter gives a local op another time in each iteration.
bool has_jitter_of_ops(std::span<const Fault> faults);

/// Returns the number of ops over all devices, each counted as often as it runs; at most 2^63 - 1.
uint64_t device_ops_with_all_iterations(const Program& program);

/// Returns an error message if the ops, each counted as often as it runs, exceed the limits; else
/// "".
std::string beyond_limits(const Program& program, const Limits& limits);

/// Returns the label of a program that leaves out iterations: which ones it shows, and why.
std::string shown_label(const Program& program, uint64_t budget);

/// Returns the labels of iterations that were added up instead of run, one per loop of the program
/// with regions. There are at most 8, and one more with the number of the other loops.
std::vector<std::string> added_labels(const Program& looped,
                                      const std::vector<AddedIterations>& added);

}  // namespace orrery
