#pragma once

// From regions to written iterations (loop.h): the program that a report shows. It walks each
// body once for each iteration that it writes, and knows for every value which one it is now: a
// param is what the iteration before yielded, so nothing else is to be found out. An iteration is
// a copy under names of its own, "l[3].y" for "l[].y"; sites are met anew in each.
//
// Once an iteration begins as an earlier one did, the later ones repeat with that period. Whole
// periods between the first and the last are then left out. An iteration of which a single value
// is read outside is kept: the loop is then written in parts, one after the other.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/callable.h"
#include "models/base/diagnostics.h"
#include "models/program/iterations.h"
#include "models/program/program.h"
#include "models/program/sites.h"

namespace orrery {

/// Whether iterations of long loops may be left out.
enum class LongLoops : uint8_t { LeftOut, WrittenOut };

/// How large a program becomes. Counts further results and, in each iteration, carries as ops, and
/// a loop as one.
struct WrittenSize {
  int64_t ops = 0;
  int64_t device_ops = 0;  // on all devices; of several threads, each has one more on its devices
};

/// "" if a program may become so large, else the error.
using AllowedSize = FunctionRef<std::string(const WrittenSize& size)>;

/// A program with its loops' iterations written. Loops that the given program has in written form
/// stay as they are.
struct Unrolled {
  Program program;
  std::vector<OpRun> runs;  // per op: what it is a run of
  /// Per value of the regions, what it is at the end; empty for one that was never made. Values
  /// outside of all bodies are only one.
  std::vector<std::optional<ValueId>> values;
};

/// Empty, with errors, where sites do not fit together in some iteration, or the size is not
/// allowed. Requires that there are no errors. `requests`: those by which ops entered
/// named sites, for the places of errors; where one is missing it is made from the site.
std::optional<Unrolled> unrolled(const Program& program, LongLoops long_loops,
                                 const SiteRequests& requests, AllowedSize allowed,
                                 Diagnostics& diagnostics);

/// Requires that sites fit together.
Unrolled unrolled(const Program& program, LongLoops long_loops);

/// The regions with the groups of all their sites, which are those of each iteration that was
/// written. Empty if they are not the same in each, or if an op meets those of another iteration,
/// as where a precv in a loop takes what was sent before it.
std::optional<Program> with_sites(const Program& regions, const Program& written,
                                  const std::vector<OpRun>& runs);

/// What the ops of a program without regions are runs of: of themselves.
std::vector<OpRun> own_runs(const Program& program);

}  // namespace orrery
