#pragma once

// The type rule of ragged_all_to_all.

#include <cstdint>
#include <string_view>

#include "models/program/rules.h"

namespace orrery {

/// Of the operands of a ragged_all_to_all, these are its tables.
inline constexpr IndexOperands kRaggedTables = {2, 6};
/// Their names, in order.
inline constexpr std::string_view kRaggedTableNames[] = {"input_offsets", "send_sizes",
                                                         "output_offsets", "recv_sizes"};

/// The most entries of a table over all devices: the tables and slices of one exchange then take
/// about 300 MB.
inline constexpr int64_t kMostSlices = int64_t{1} << 22;

TypeOutcome ragged_all_to_all_type(const TypeContext& context);

}  // namespace orrery
