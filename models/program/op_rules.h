#pragma once

// These functions apply the rules of an op to its operands and results in a program. They give its
// cost, where its results lie, and how it folds.

#include <span>

#include "models/array/work.h"
#include "models/program/program.h"
#include "models/program/rules.h"

namespace orrery {

/// Returns the cost of an op: what it is charged for as a part of a fused kernel, or else its own.
/// Requires a local op.
Cost cost_of(const Program& program, const Op& op);

/// Charges elementwise ops, reductions along dimensions, broadcasts and conversions as fused
/// kernels. Ops of a kernel come one after another, in one body, with nothing else between them but
/// ops that run nothing, and are joined by what they read of each other. The last one that runs is
/// charged for the flops of all, at the rate of their widest dtype, and for each value that enters
/// or leaves the kernel, once. The others run nothing. The loops of the program must be regions, so
/// that each iteration is charged alike.
void fuse_elementwise(Program& program);

OpMemory memory_of(const Program& program, const Op& op);

/// Makes the result lie over the first operand, if the op is one that updates a donated operand in
/// place (OpRules::updates_donated).
void update_in_place(OpKind kind, std::span<const ValueId> operands,
                     std::span<const ValueId> donated, OpMemory& memory);

/// Returns how a collective folds work elements of this type. XLA removes collectives over no axes,
/// and on a mesh of one device all but psum_scatter. A removed collective keeps all bits with any
/// numerics.
Folding op_folding(const Program& program, const Op& op, WorkType type);

/// A Location says where a value lies.
struct Location {
  BufferId buffer;
  Bytes offset;
};

/// Returns the place of a result of `size` bytes. Adds a new buffer, unless the result is in an
/// operand's.
Location locate_result(Program& program, const ResultMemory& memory, Bytes size,
                       std::span<const ValueId> operands);

}  // namespace orrery
