#pragma once

// The rules of a program's op, applied to its operands and results: its cost, where its results
// lie, how it folds.

#include <span>

#include "models/array/work.h"
#include "models/program/program.h"
#include "models/program/rules.h"

namespace orrery {

/// Requires a local op.
Cost cost_of(const Program& program, const Op& op);

OpMemory memory_of(const Program& program, const Op& op);

/// How a collective folds whose work elements have this type. XLA removes collectives over no axes,
/// and on a mesh of one device all but psum_scatter. These keep all bits by any numerics.
Folding op_folding(const Program& program, const Op& op, WorkType type);

/// Where a value lies.
struct Location {
  BufferId buffer;
  Bytes offset;
};

/// The place of a result of `size` bytes: a new buffer, or an operand's.
Location locate_result(Program& program, const ResultMemory& memory, Bytes size,
                       std::span<const ValueId> operands);

}  // namespace orrery
