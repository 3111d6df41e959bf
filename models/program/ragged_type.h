#pragma once

// The type rule of ragged_all_to_all.

#include "models/program/rules.h"

namespace orrery {

/// Of the operands of a ragged_all_to_all, these are its tables.
inline constexpr IndexOperands kRaggedTables = {2, 6};
/// Their names, in order.
inline constexpr std::string_view kRaggedTableNames[] = {"input_offsets", "send_sizes",
                                                         "output_offsets", "recv_sizes"};

TypeOutcome ragged_all_to_all_type(const TypeContext& context);

}  // namespace orrery
