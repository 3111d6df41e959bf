#pragma once

// The families of ops: the entries of each, and the backward and batch rules that entries name.

#include <vector>

#include "models/program/rules.h"

namespace orrery {

// The entries, one file per family. Their order is free; rules.cc puts them in the order of OpKind.

// psum, all_gather, ..., and done
std::vector<OpRules> collective_rules();
// pvary, preduced, ...: another state, the same elements
std::vector<OpRules> cast_rules();
// add, exp, lt, select_n, convert_element_type, ...
std::vector<OpRules> elementwise_rules();
// reshape, transpose, slice, concatenate, pad, broadcast_in_dim
std::vector<OpRules> movement_rules();
// dynamic_slice, dynamic_update_slice, take
std::vector<OpRules> indexing_rules();
// reduce_sum, reduce_max, reduce_min
std::vector<OpRules> reduction_rules();
// dot_general
std::vector<OpRules> dot_rules();
// axis_index, axis_size, full, iota, create_token, compute: results out of no operand
std::vector<OpRules> source_rules();

}  // namespace orrery

namespace orrery::backward {

// elementwise_backward.cc
Cotangents add(BackwardCall& call);
Cotangents sub(BackwardCall& call);
Cotangents mul(BackwardCall& call);
Cotangents div(BackwardCall& call);
Cotangents extremum(BackwardCall& call);  // max, min
Cotangents neg(BackwardCall& call);
Cotangents exp(BackwardCall& call);
Cotangents log(BackwardCall& call);
Cotangents sqrt(BackwardCall& call);
Cotangents rsqrt(BackwardCall& call);
Cotangents logistic(BackwardCall& call);
Cotangents sin(BackwardCall& call);
Cotangents cos(BackwardCall& call);
Cotangents real(BackwardCall& call);
Cotangents imag(BackwardCall& call);
Cotangents conj(BackwardCall& call);
Cotangents complex(BackwardCall& call);
Cotangents select_n(BackwardCall& call);
Cotangents convert_element_type(BackwardCall& call);

// movement_backward.cc
Cotangents reshape(BackwardCall& call);
Cotangents transpose(BackwardCall& call);
Cotangents slice(BackwardCall& call);
Cotangents concatenate(BackwardCall& call);
Cotangents split(BackwardCall& call);
Cotangents pad(BackwardCall& call);
Cotangents broadcast_in_dim(BackwardCall& call);
Cotangents dynamic_slice(BackwardCall& call);
Cotangents dynamic_update_slice(BackwardCall& call);
Cotangents optimization_barrier(BackwardCall& call);

// indexing_backward.cc
Cotangents take(BackwardCall& call);
Cotangents scatter_add(BackwardCall& call);

// source_backward.cc
Cotangents compute(BackwardCall& call);

// reduction_backward.cc
Cotangents reduce_sum(BackwardCall& call);
Cotangents reduce_extremum(BackwardCall& call);  // reduce_max, reduce_min
Cotangents dot_general(BackwardCall& call);

// collective_backward.cc
Cotangents psum(BackwardCall& call);
Cotangents pmean(BackwardCall& call);
Cotangents all_gather(BackwardCall& call);
Cotangents psum_scatter(BackwardCall& call);
Cotangents all_to_all(BackwardCall& call);
Cotangents pswapaxes(BackwardCall& call);
Cotangents ppermute(BackwardCall& call);
Cotangents pshuffle(BackwardCall& call);
Cotangents pbroadcast(BackwardCall& call);
Cotangents psend(BackwardCall& call);
Cotangents precv(BackwardCall& call);
Cotangents cast(BackwardCall& call);

// ragged_backward.cc
Cotangents ragged_all_to_all(BackwardCall& call);

}  // namespace orrery::backward

namespace orrery::batching {

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
