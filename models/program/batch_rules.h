#pragma once

// The batch rules of each family of ops, by the names of the ops.

#include <span>

#include "models/program/batch.h"

namespace orrery::batching {

struct Entry {
  OpKind kind;
  BatchRule rule;
};
/// Of the ops that can be batched. Done is batched with its start.
std::span<const Entry> entries();

// elementwise_batch.cc
BatchOutcome elementwise(BatchCall& call);

// movement_batch.cc
BatchOutcome reshape(BatchCall& call);
BatchOutcome transpose(BatchCall& call);
BatchOutcome slice(BatchCall& call);
BatchOutcome concatenate(BatchCall& call);
BatchOutcome split(BatchCall& call);
BatchOutcome pad(BatchCall& call);
BatchOutcome broadcast_in_dim(BatchCall& call);
BatchOutcome optimization_barrier(BatchCall& call);

// indexing_batch.cc
BatchOutcome dynamic_slice(BatchCall& call);
BatchOutcome dynamic_update_slice(BatchCall& call);
BatchOutcome take(BatchCall& call);
BatchOutcome scatter_add(BatchCall& call);

// reduction_batch.cc
BatchOutcome reduction(BatchCall& call);
BatchOutcome dot_general(BatchCall& call);

// source_batch.cc
BatchOutcome cast(BatchCall& call);
BatchOutcome axis_index(BatchCall& call);
BatchOutcome axis_size(BatchCall& call);
BatchOutcome compute(BatchCall& call);

// collective_batch.cc
BatchOutcome psum(BatchCall& call);
BatchOutcome pmean(BatchCall& call);
BatchOutcome extremum(BatchCall& call);       // pmax, pmin
BatchOutcome extremal_rank(BatchCall& call);  // pargmax, pargmin
BatchOutcome all_gather(BatchCall& call);
BatchOutcome psum_scatter(BatchCall& call);

// exchange_batch.cc
BatchOutcome all_to_all(BatchCall& call);
BatchOutcome pswapaxes(BatchCall& call);
BatchOutcome ppermute(BatchCall& call);
BatchOutcome pshuffle(BatchCall& call);
BatchOutcome pbroadcast(BatchCall& call);
BatchOutcome psend(BatchCall& call);
BatchOutcome precv(BatchCall& call);

// ragged_batch.cc
BatchOutcome ragged_all_to_all(BatchCall& call);

}  // namespace orrery::batching
