#pragma once

// The type rules of the collectives, by their names. They are in three files. collective_types.cc
// has the collectives whose members all exchange with each other. permutation_types.cc has those in
// which a member sends to at most one other, by "perm". ragged_type.cc has the ragged exchange.

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/program/rules.h"

namespace orrery {

/// These return the error in the dimension along which a gather stacks, or a scatter cuts. The
/// group's size does not matter.
std::optional<TypeError> gather_dimension_error(const TypeContext& context);
std::optional<TypeError> scatter_dimension_error(const TypeContext& context);

TypeOutcome psum_type(const TypeContext& context);
TypeOutcome unreduced_psum_type(const TypeContext& context);
TypeOutcome pmean_type(const TypeContext& context);
/// This is the rule of pmax and pmin.
TypeOutcome extremum_type(const TypeContext& context);
/// This is the rule of pargmax and pargmin.
TypeOutcome extremal_rank_type(const TypeContext& context);
TypeOutcome all_gather_type(const TypeContext& context);
TypeOutcome all_gather_invariant_type(const TypeContext& context);
TypeOutcome all_gather_reduced_type(const TypeContext& context);
TypeOutcome psum_scatter_type(const TypeContext& context);
TypeOutcome unreduced_psum_scatter_type(const TypeContext& context);
TypeOutcome all_to_all_type(const TypeContext& context);
TypeOutcome pswapaxes_type(const TypeContext& context);
TypeOutcome pbroadcast_type(const TypeContext& context);

// In permutation_types.cc:

TypeOutcome ppermute_type(const TypeContext& context);
TypeOutcome pshuffle_type(const TypeContext& context);
TypeOutcome psend_type(const TypeContext& context);
TypeOutcome precv_type(const TypeContext& context);

// In ragged_type.cc:

/// These operands of a ragged_all_to_all are its tables.
inline constexpr IndexOperands kRaggedTables = {2, 6};
/// The names of the tables, in order.
inline constexpr std::string_view kRaggedTableNames[] = {"input_offsets", "send_sizes",
                                                         "output_offsets", "recv_sizes"};

/// A table has at most this many entries over all devices. The tables and slices of one exchange
/// then take about 300 MB.
inline constexpr int64_t kMostSlices = int64_t{1} << 22;

TypeOutcome ragged_all_to_all_type(const TypeContext& context);

}  // namespace orrery
