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
#include <string_view>
#include <vector>

#include "models/program/iterations.h"
#include "models/program/program.h"
#include "models/scenario/scenario.h"
#include "models/scenario/size_limits.h"
#include "simulator/time/completion.h"
#include "verifier/report.h"

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
/// the limits, all iterations are also written if ops of different iterations meet. Otherwise
/// iterations in the middle of long loops are left out. To compute values, all iterations are
/// written where ops of different iterations meet, and with ragged exchanges. Throws InputError if
/// iterations that are asked for exceed the limits.
ScenarioToRun with_iterations(std::shared_ptr<const Scenario> scenario, const Limits& limits,
                              const WantedIterations& iterations);

/// This is a scenario with only the first iterations of its loops.
struct FirstIterations {
  Scenario scenario;            // its expectations are those that are decided
  std::vector<size_t> decided;  // their indices among the expectations of the given one
};

/// Returns the expectations on values that the first iterations decide as all iterations would.
/// Each loop is cut after the last iteration that a compared value is made of. A loop on whose
/// result such a value depends stays whole. Takes the expectations that need the fewest ops first,
/// as long as the cut program has at most `budget` ops over all devices and is within the limits.
/// Returns nothing if no expectation is decided. Requires that no op meets ops of another
/// iteration.
std::optional<FirstIterations> first_iterations(const Scenario& given, uint64_t budget,
                                                const Limits& limits);

/// Returns the scenario with the values of single iterations that `names` has, such as "l[3].y", as
/// exits of its loops. Its loops are cut as above, so a run of it has these values. Other names
/// have no effect. The scenario has no expectations.
Scenario first_iterations_of(const Scenario& given, std::span<const std::string> names,
                             const Limits& limits);

/// This is a scenario of which loops are cut.
struct CutLoops {
  /// A loop that is cut, by its name and its new end. A gradient writes parts of a loop out, under
  /// the same name (models/transform/peeled.cc).
  struct Ended {
    std::string name;
    int64_t upper = 0;
  };
  Scenario scenario;  // without expectations
  std::vector<Ended> loops;

  bool cuts(const WrittenLoop& loop) const;
};

/// Returns the scenario with the outermost loop around an op or value cut, where `name` names it in
/// a single iteration, as "l[3].s". The loop ends at least `further` iterations after that one, and
/// so many that the iteration's values are held as in the whole loop. Iterations are cut in whole
/// periods of the carries that go round. Returns nothing if the loop has not so many iterations, if
/// the name is of no single iteration, or if the cut program exceeds the limits.
std::optional<CutLoops> cut_after(const Scenario& given, std::string_view name, uint64_t further,
                                  const Limits& limits);

/// Returns the instant until which the run of a cut scenario goes as that of the whole one: until
/// then each device that runs a loop has its last iteration before it. Requires a report with
/// times, in which all iterations are written.
Instant known_until(const Report& report, const CutLoops& cut);

/// Returns whether some member never comes to a collective. Then the program cannot end.
bool has_absent(const Program& program);

/// Returns the number of ops over all devices, each counted as often as it runs; at most 2^63 - 1.
uint64_t device_ops_with_all_iterations(const Program& program);

/// Returns an error message if the ops, each counted as often as it runs, exceed the limits; else
/// "".
std::string beyond_limits(const Program& program, const Limits& limits);

/// Returns the label of a program with regions some of whose iterations are shown: which, and why.
std::string shown_label(const Program& program, uint64_t budget);

/// Returns the labels of iterations that were added up instead of run, one per loop of the program
/// with regions. There are at most 8, and one more with the number of the other loops.
std::vector<std::string> added_labels(const Program& looped,
                                      const std::vector<AddedIterations>& added);

}  // namespace orrery
