#pragma once

// This file is for the files of rules. It lists the families of ops: their entries, and the
// backward and batch rules in these. It also has the checks, types and costs that several families
// share.

#include <optional>
#include <string_view>
#include <vector>

#include "models/program/rules.h"
#include "models/program/states.h"

namespace orrery {

// Each family has its entries in one file, in any order. rules.cc puts them in the order of OpKind.

// Returns the entries of psum, all_gather and the other collectives, and of done.
std::vector<OpRules> collective_rules();
// Returns the entries of pvary, preduced and the other casts between states.
std::vector<OpRules> cast_rules();
// Returns the entries of add, exp, lt, select_n, convert_element_type and other ops by element.
std::vector<OpRules> elementwise_rules();
// Returns the entries of reshape, logically_stacked, transpose, slice, concatenate, split, pad,
// broadcast_in_dim, reorder_sequence and optimization_barrier.
std::vector<OpRules> movement_rules();
// Returns the entries of dynamic_slice, dynamic_update_slice, take and scatter_add.
std::vector<OpRules> indexing_rules();
// Returns the entries of reduce_sum, reduce_max and reduce_min.
std::vector<OpRules> reduction_rules();
// Returns the entry of dot_general.
std::vector<OpRules> dot_rules();
// Returns the entries of dot_product_attention and of its gradients.
std::vector<OpRules> attention_rules();
// Returns the entry of mpmd_map.
std::vector<OpRules> core_rules();
// Returns the entries of ops whose results are not made of operands: axis_index, axis_size, full,
// iota, create_token and compute.
std::vector<OpRules> source_rules();
// Returns the entries of the local ops that only reshards of MPMD arrays are made of.
std::vector<OpRules> reshard_rules();

// type_checks.cc has what the rules of several families share.

/// Returns a result of this dtype, shape and states, or the error of the states if they have one.
TypeOutcome typed(Dtype dtype, Shape shape, StatesOutcome states);

/// Returns the error in `dimension`, given as `parameter`. It must be from 0 to rank - 1.
std::optional<TypeError> dimension_error(std::string_view parameter, int64_t dimension,
                                         size_t rank);

/// Returns the error in the `dtype` of an operand given as `parameter`, if its elements must have
/// an order. Complex numbers have none.
std::optional<TypeError> unordered_error(std::string_view parameter, Dtype dtype);

/// Returns the error in `value`, given as `parameter`, as an element of the dtype.
std::optional<TypeError> number_error(std::string_view parameter, Dtype dtype,
                                      const NumberOrPair& value);

/// Returns the parameter "scratch": the bytes that an op needs beside operands and results while it
/// runs. GPU libraries call it their workspace.
Parameter scratch_parameter();

/// Returns the cost of an op that does not run, since its results are in the operands' storage.
Cost renaming_cost(const Attributes& attributes, std::span<const ValueType> operands,
                   std::span<const ValueType> results);

/// Returns the sum of the sizes of operands and results.
Bytes touched(std::span<const ValueType> operands, std::span<const ValueType> results);

}  // namespace orrery

namespace orrery::backward {

// In elementwise_backward.cc:
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

// In movement_backward.cc:
Cotangents reshape(BackwardCall& call);
Cotangents transpose(BackwardCall& call);
Cotangents slice(BackwardCall& call);
Cotangents concatenate(BackwardCall& call);
Cotangents split(BackwardCall& call);
Cotangents pad(BackwardCall& call);
Cotangents broadcast_in_dim(BackwardCall& call);
Cotangents reorder_sequence(BackwardCall& call);
Cotangents dynamic_slice(BackwardCall& call);
Cotangents dynamic_update_slice(BackwardCall& call);
Cotangents optimization_barrier(BackwardCall& call);

// In indexing_backward.cc:
Cotangents take(BackwardCall& call);
Cotangents scatter_add(BackwardCall& call);

// In source_backward.cc:
Cotangents compute(BackwardCall& call);

// In reduction_backward.cc:
Cotangents reduce_sum(BackwardCall& call);
Cotangents reduce_extremum(BackwardCall& call);  // reduce_max, reduce_min
Cotangents dot_general(BackwardCall& call);
Cotangents dot_product_attention(BackwardCall& call);

// In collective_backward.cc:
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

// In ragged_backward.cc:
Cotangents ragged_all_to_all(BackwardCall& call);

}  // namespace orrery::backward

namespace orrery::batching {

// In elementwise_batch.cc:
BatchOutcome elementwise(BatchCall& call);

// In movement_batch.cc:
BatchOutcome reshape(BatchCall& call);
BatchOutcome logically_stacked(BatchCall& call);
BatchOutcome transpose(BatchCall& call);
BatchOutcome slice(BatchCall& call);
BatchOutcome concatenate(BatchCall& call);
BatchOutcome split(BatchCall& call);
BatchOutcome pad(BatchCall& call);
BatchOutcome broadcast_in_dim(BatchCall& call);
BatchOutcome reorder_sequence(BatchCall& call);
BatchOutcome optimization_barrier(BatchCall& call);

// In indexing_batch.cc:
BatchOutcome dynamic_slice(BatchCall& call);
BatchOutcome dynamic_update_slice(BatchCall& call);
BatchOutcome take(BatchCall& call);
BatchOutcome scatter_add(BatchCall& call);

// In reduction_batch.cc:
BatchOutcome reduction(BatchCall& call);
BatchOutcome dot_general(BatchCall& call);
BatchOutcome attention(BatchCall& call);  // and its gradients

// In source_batch.cc:
BatchOutcome cast(BatchCall& call);
BatchOutcome axis_index(BatchCall& call);
BatchOutcome axis_size(BatchCall& call);
BatchOutcome compute(BatchCall& call);

// In collective_batch.cc:
BatchOutcome psum(BatchCall& call);
BatchOutcome pmean(BatchCall& call);
BatchOutcome extremum(BatchCall& call);       // pmax, pmin
BatchOutcome extremal_rank(BatchCall& call);  // pargmax, pargmin
BatchOutcome all_gather(BatchCall& call);
BatchOutcome psum_scatter(BatchCall& call);

// In exchange_batch.cc:
BatchOutcome all_to_all(BatchCall& call);
BatchOutcome pswapaxes(BatchCall& call);
BatchOutcome ppermute(BatchCall& call);
BatchOutcome pshuffle(BatchCall& call);
BatchOutcome pbroadcast(BatchCall& call);
BatchOutcome psend(BatchCall& call);
BatchOutcome precv(BatchCall& call);

// In ragged_batch.cc:
BatchOutcome ragged_all_to_all(BatchCall& call);

}  // namespace orrery::batching
