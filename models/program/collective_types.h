#pragma once

// The type rules of the collectives whose members all exchange with each other.
// (permutation_types.h has those of permutations and transfers, ragged_type.h that of ragged
// exchanges.)

#include "models/program/rules.h"

namespace orrery {

/// What is wrong with the dimension along which a gather stacks, or a scatter cuts. The group's
/// size does not matter.
std::optional<TypeError> gather_dimension_error(const TypeContext& context);
std::optional<TypeError> scatter_dimension_error(const TypeContext& context);

TypeOutcome psum_type(const TypeContext& context);
TypeOutcome unreduced_psum_type(const TypeContext& context);
TypeOutcome pmean_type(const TypeContext& context);
/// Of pmax and pmin.
TypeOutcome extremum_type(const TypeContext& context);
/// Of pargmax and pargmin.
TypeOutcome extremal_rank_type(const TypeContext& context);
TypeOutcome all_gather_type(const TypeContext& context);
TypeOutcome all_gather_invariant_type(const TypeContext& context);
TypeOutcome all_gather_reduced_type(const TypeContext& context);
TypeOutcome psum_scatter_type(const TypeContext& context);
TypeOutcome unreduced_psum_scatter_type(const TypeContext& context);
TypeOutcome all_to_all_type(const TypeContext& context);
TypeOutcome pswapaxes_type(const TypeContext& context);
TypeOutcome pbroadcast_type(const TypeContext& context);

}  // namespace orrery
