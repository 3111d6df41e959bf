#pragma once

// This file says which iterations of its loops a program is written with (unroll.h). This follows
// from the regions (program.h) alone. An iteration is determined by its carries. Each carry holds a
// value that was made a few iterations ago, a value from outside of the loop, or one that is passed
// round a ring of carries. So, after the first iterations, each iteration has the same inputs as
// the one a period before, shifted by a period. Whole periods of such iterations may be left out.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/program/program.h"

namespace orrery {

/// A Recurrence says how the iterations of a loop repeat. But for the first ones, each does what
/// the one a period before does, with values of as many iterations before.
struct Recurrence {
  uint32_t before = 0;  // how many first iterations begin otherwise than the one a period later
  /// How many iterations back the maker of a carried value may lie; at least 1 in a result.
  uint32_t reach = 0;
  uint32_t period = 1;

  /// At least so many of the first iterations are written. A period of them are as those that are
  /// left out, and so have the peak memory of all. Values of the last `reach` stand for values of
  /// those.
  uint64_t first() const { return uint64_t{before} + reach + period; }
  /// At least so many of the last iterations are written. The first `reach` of them read what
  /// iterations left out made. The others make what is read after the loop, and a period of them
  /// are the last to use what the carries pass round.
  uint64_t last() const { return uint64_t{reach} + std::max(reach, period); }

  /// Takes the greater `before` and `reach` of both, and the least common multiple of their
  /// periods.
  void include(const Recurrence& other);
};

/// Returns, per loop of the regions, how its iterations repeat.
std::vector<Recurrence> recurrences(const Program& regions);

/// A WrittenRange has iterations of a loop in a row, all of which are written.
struct WrittenRange {
  int64_t begin = 0;    // the first index
  int64_t end = 0;      // one past the last
  uint64_t copies = 0;  // how many iterations behind the range are copies of each one in it
};

/// The iterations of a loop that are always written, and how it repeats.
struct WrittenIterations {
  Recurrence recurrence;
  std::vector<WrittenRange> ranges;  // ascending; iterations between two of them may be left out
};

/// Returns, per loop of the regions, which iterations are always written: first ones, last ones,
/// and each that an exit reads. Such an iteration differs from those beside it. So those before it
/// and those after it repeat by themselves. In a loop in a loop, it is written in every iteration
/// around it.
///
/// Loops that meet must leave out the same iterations. So they get the same recurrence, and what
/// interrupts one of them, an end too, interrupts the others.
std::vector<WrittenIterations> written_iterations(const Program& regions);

}  // namespace orrery
