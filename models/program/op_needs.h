#pragma once

// The rules of a program's op, applied to its operands and results.

#include <span>

#include "models/program/program.h"
#include "models/program/rules.h"

namespace orrery {

/// Requires a local op.
Cost cost_of(const Program& program, const Op& op);

OpMemory memory_of(const Program& program, const Op& op);

/// Where a value lies.
struct Location {
  BufferId buffer;
  Bytes offset;
};

/// Where a result of `size` bytes is stored: in a new buffer, or in an operand's.
Location locate_result(Program& program, const ResultMemory& memory, Bytes size,
                       std::span<const ValueId> operands);

}  // namespace orrery
