#pragma once

// Which ops a backward pass computes again.

#include <vector>

#include "models/base/diagnostics.h"
#include "models/program/program.h"
#include "models/transform/named.h"

namespace orrery {

/// The ops that the names mean. Each names
///  - an op;
///  - a loop, "l": all ops of its body, but for those whose results leave their iteration. So what
///    iterations carry is kept, and each is computed again from that.
/// An index that is left out, or is "[]", means all iterations: "l[].y" an op, "l.k" and "l[].k" a
/// loop in loop "l".
/// Adds an error for other names, and for an op without results or one that is started.
std::vector<OpId> recomputed_ops(const Program& program, const std::vector<NamedAt>& names,
                                 Diagnostics& diagnostics);

/// All ops that can be computed again.
std::vector<OpId> all_recomputed_ops(const Program& program);

}  // namespace orrery
