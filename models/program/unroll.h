#pragma once

// unrolled() makes a program with written iterations from one with regions (program.h). A report
// shows this program. unrolled() walks each body once for each iteration that it writes. For every
// value of the region it knows the newest written value: a param is the value that the iteration
// before yielded. An iteration is a copy under names of its own, "l[3].y" for "l[].y". Its ops meet
// at sites of its own.
//
// Once an iteration begins as an earlier one did, the later ones repeat with that period. Whole
// periods between the first and the last are then left out (written_iterations.h). An iteration is
// always written if an exit reads a value of it.

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

/// LongLoops says whether iterations of long loops may be left out.
enum class LongLoops : uint8_t { LeftOut, WrittenOut };

/// A WrittenSize says how large a program becomes. Each result of an op beyond its first counts as
/// an op, and so do a loop, and each carry in each iteration.
struct WrittenSize {
  int64_t ops = 0;
  int64_t device_ops = 0;  // on all devices; with several threads, each has one more on its devices
};

/// An AllowedSize returns "" if a program may become so large, else the error.
using AllowedSize = FunctionRef<std::string(const WrittenSize& size)>;

/// An Unrolled is a program with its loops' iterations written. Loops that the given program has in
/// written form stay as they are.
struct Unrolled {
  Program program;
  std::vector<OpRun> runs;  // per op: what it is a run of
  /// Per value of the regions: the last value written for it, or nothing if there is none. A value
  /// outside of all bodies is written once.
  std::vector<std::optional<ValueId>> values;
};

/// Returns the program with written iterations. Returns nothing, with errors, if sites do not fit
/// together in some iteration, or if the size is not allowed. Requires that there are no errors.
/// `requests` are those by which ops entered named sites; they have the places of errors. A missing
/// request is made from the site.
std::optional<Unrolled> unrolled(const Program& program, LongLoops long_loops,
                                 const SiteRequests& requests, AllowedSize allowed,
                                 Diagnostics& diagnostics);

/// Does the same for any size. Requires that sites fit together.
Unrolled unrolled(const Program& program, LongLoops long_loops);

/// Returns the regions with the groups of all their sites, which are those of each written
/// iteration. Returns nothing if the groups differ between iterations, or if an op meets ops of
/// another iteration, as when a precv receives from a psend of the iteration before.
std::optional<Program> with_sites(const Program& regions, const Program& written,
                                  const std::vector<OpRun>& runs);

/// Returns the runs of a program without regions, whose ops are runs of themselves.
std::vector<OpRun> own_runs(const Program& program);

}  // namespace orrery
