#pragma once

// The backward rules of each family of ops, by the names of the ops.

#include <span>

#include "models/program/backward.h"

namespace orrery::backward {

/// What the rules of an op have of its gradient.
struct Entry {
  OpKind kind;
  BackwardRule rule;
  LinearIn linear_in;
};
/// Of the ops that have a gradient.
std::span<const Entry> entries();

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
