#pragma once

// The type rules of the collectives, by their names. They are in three files: those of collectives
// whose members all exchange with each other (collective_types.cc), those in which a member sends
// to one other at most, by "perm" (permutation_types.cc), and that of ragged exchanges
// (ragged_type.cc).

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/program/rules.h"

namespace orrery {

/// The error in the dimension along which a gather stacks, or a scatter cuts. The group's
/// size does not matter.
std::optional<TypeError> gather_dimension_error(const TypeContext& context);
std::optional<TypeError> scatter_dimension_error(const TypeContext& context);

TypeOutcome psum_type(const TypeContext& context);
TypeOutcome unreduced_psum_type(const TypeContext& context);
TypeOutcome pmean_type(const TypeContext& context);
/// That of pmax and pmin.
TypeOutcome extremum_type(const TypeContext& context);
/// That of pargmax and pargmin.
TypeOutcome extremal_rank_type(const TypeContext& context);
TypeOutcome all_gather_type(const TypeContext& context);
TypeOutcome all_gather_invariant_type(const TypeContext& context);
TypeOutcome all_gather_reduced_type(const TypeContext& context);
TypeOutcome psum_scatter_type(const TypeContext& context);
TypeOutcome unreduced_psum_scatter_type(const TypeContext& context);
TypeOutcome all_to_all_type(const TypeContext& context);
TypeOutcome pswapaxes_type(const TypeContext& context);
TypeOutcome pbroadcast_type(const TypeContext& context);

// permutation_types.cc

TypeOutcome ppermute_type(const TypeContext& context);
TypeOutcome pshuffle_type(const TypeContext& context);
TypeOutcome psend_type(const TypeContext& context);
TypeOutcome precv_type(const TypeContext& context);

// ragged_type.cc

/// The operands of a ragged_all_to_all that are its tables.
inline constexpr IndexOperands kRaggedTables = {2, 6};
/// Their names, in order.
inline constexpr std::string_view kRaggedTableNames[] = {"input_offsets", "send_sizes",
                                                         "output_offsets", "recv_sizes"};

/// The most entries of a table over all devices: the tables and slices of one exchange then take
/// about 300 MB.
inline constexpr int64_t kMostSlices = int64_t{1} << 22;

TypeOutcome ragged_all_to_all_type(const TypeContext& context);

}  // namespace orrery
