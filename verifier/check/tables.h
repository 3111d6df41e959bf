#pragma once

// Whether the tables of a ragged exchange agree. JAX leaves open what happens where they do not.

#include <optional>
#include <span>

#include "models/array/tensor.h"
#include "models/program/program.h"
#include "verifier/report.h"

namespace orrery {

/// The tables of one device, from the values of the four table operands, in order.
SliceTables slice_tables(std::span<const Tensor* const> operands);

/// TABLES.AGREED of a site: every slice lies in its operand and in its receiver's result, and is as
/// large as the receiver's recv_sizes say, and no two slices overlap in a result. Offsets of slices
/// without rows do not matter. Otherwise names the first wrong entry, by group, sender and table;
/// of overlaps the lowest rows of the first receiver.
Check tables_agreed(const Program& program, SiteId site, const SiteTables& tables);

}  // namespace orrery
