#include "models/program/backward_rules.h"

namespace orrery::backward {

std::span<const Entry> entries() {
  using enum OpKind;
  using enum LinearIn;
  static constexpr Entry kEntries[] = {
      {Add, add, All},
      {Sub, sub, All},
      {Mul, mul, OneEach},
      {Div, div, First},
      {Max, extremum, None},
      {Min, extremum, None},
      {Neg, neg, All},
      {Exp, exp, None},
      {Log, log, None},
      {Sqrt, sqrt, None},
      {Rsqrt, rsqrt, None},
      {Logistic, logistic, None},
      {Sin, sin, None},
      {Cos, cos, None},
      {Real, real, All},
      {Imag, imag, All},
      {Conj, conj, All},
      {OpKind::Complex, complex, All},
      {SelectN, select_n, Cases},
      {ConvertElementType, convert_element_type, All},
      {Reshape, reshape, All},
      {Transpose, transpose, All},
      {Slice, slice, All},
      {Concatenate, concatenate, All},
      {Split, split, All},
      {Pad, pad, Data},
      {BroadcastInDim, broadcast_in_dim, All},
      {DynamicSlice, dynamic_slice, First},
      {DynamicUpdateSlice, dynamic_update_slice, Data},
      {OptimizationBarrier, optimization_barrier, All},
      {ReduceSum, reduce_sum, All},
      {ReduceMax, reduce_extremum, None},
      {ReduceMin, reduce_extremum, None},
      {DotGeneral, dot_general, OneEach},
      {Psum, psum, All},
      {UnreducedPsum, psum, All},
      {Pmean, pmean, All},
      {AllGather, all_gather, All},
      {AllGatherInvariant, all_gather, All},
      {AllGatherReduced, all_gather, All},
      {PsumScatter, psum_scatter, All},
      {UnreducedPsumScatter, psum_scatter, All},
      {AllToAll, all_to_all, All},
      {Pswapaxes, pswapaxes, All},
      {Ppermute, ppermute, All},
      {Pshuffle, pshuffle, All},
      {Pbroadcast, pbroadcast, All},
      {RaggedAllToAll, ragged_all_to_all, Data},
      {Psend, psend, All},
      {Precv, precv, All},
      {Pvary, cast, All},
      {Preduced, cast, All},
      {VaryUnreducedCast, cast, All},
      {ReducedVaryCast, cast, All},
      {Pcast, cast, All},
  };
  return kEntries;
}

}  // namespace orrery::backward
