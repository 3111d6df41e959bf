#pragma once

// How the collectives of a program fold.

#include "models/array/work.h"
#include "models/program/program.h"

namespace orrery {

/// Of a collective whose work elements have this type. XLA leaves away a collective over no axes,
/// and on a mesh of one device all but psum_scatter: by whatever numerics these keep all bits.
Folding op_folding(const Program& program, const Op& op, WorkType type);

}  // namespace orrery
