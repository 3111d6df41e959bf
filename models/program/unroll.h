#pragma once

// From regions to written iterations (loop.h): the program that later stages take. It walks each
// body once for each iteration that it writes, and knows for every value which one it is now: a
// param is what the iteration before yielded, so nothing else is to be found out. An iteration is
// a copy under names of its own, "l[3].y" for "l[].y"; sites are met anew in each.
//
// Once an iteration begins as the one before did, all later ones are alike, and those between the
// first and the last are left out. That of which a single value is read outside is kept: the loop
// is then written in parts, one after the other.

#include <cstdint>
#include <optional>
#include <string>

#include "models/base/callable.h"
#include "models/base/diagnostics.h"
#include "models/program/program.h"
#include "models/program/sites.h"

namespace orrery {

/// Whether iterations of long loops may be left out.
enum class LongLoops : uint8_t { LeftOut, WrittenOut };

/// How large a program becomes. Counts further results as ops, and a loop as one.
struct WrittenSize {
  int64_t ops = 0;
  int64_t device_ops = 0;  // on all devices, with one for each of several threads
};

/// "" if a program may become so large, else the error.
using AllowedSize = FunctionRef<std::string(const WrittenSize& size)>;

/// The program with its loops' iterations written. What has been written before stays. Empty, with
/// errors, where sites do not fit together in some iteration, or the size is not allowed. Requires
/// that there are no errors. `requests`: of the ops that share sites by their names; others are
/// made of their ops.
std::optional<Program> unrolled(const Program& program, LongLoops long_loops,
                                const SiteRequests& requests, AllowedSize allowed,
                                Diagnostics& diagnostics);

/// The program with all iterations written. Requires that sites fit together.
Program unrolled(const Program& program);

}  // namespace orrery
