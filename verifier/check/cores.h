#pragma once

// These checks are about what goes on inside an mpmd_map, for all timings of its instances. An
// instance waits for ever, two accesses race, or a memory space is too small.
//
// An op a of one instance comes before an op b of another in all timings if b cannot be reached
// while its instance stops before a. The search for races asks just this, by walks without time
// (models/program/cores.h).

#include <optional>

#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "verifier/verdict.h"

namespace orrery {

/// Returns DEADLOCK.FREE of the first mpmd_map in which an instance can wait for ever, or in which
/// this is not known. Returns nothing if each ends for all timings.
std::optional<Check> stuck_cores(const Program& program);

/// Returns RACE.FREE of the first mpmd_map in which several instances wait on one counter, or two
/// accesses of one element, of which one writes, are unordered. Returns nothing if there is none.
std::optional<Check> race_of_cores(const Program& program);

/// Checks that the scratch of every mpmd_map fits the memory spaces of the cores (SPACE.CAPACITY).
/// Returns nothing if no space has a size.
std::optional<Check> space_capacity(const Program& program, const DeviceFigures& device);

}  // namespace orrery
