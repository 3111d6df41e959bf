#pragma once

// This file lists every kernel: its name, its argument and its body. The device's entry points and
// the host's table are made of this list. It is freestanding.

#include "simulator/values/cuda/kernels/elementwise.h"
#include "simulator/values/cuda/kernels/fold.h"
#include "simulator/values/cuda/kernels/move.h"

/// These give ENTRY(name, argument, body) for each element type, whose dtype ends the name.
#define ORRERY_KERNELS_OF_PRED(ENTRY, family, Args) ENTRY(family##_pred, Args, family<arith::Pred>)
#define ORRERY_KERNELS_OF_NUMBERS(ENTRY, family, Args)    \
  ENTRY(family##_s8, Args, family<arith::S8>)             \
  ENTRY(family##_s16, Args, family<arith::S16>)           \
  ENTRY(family##_s32, Args, family<arith::S32>)           \
  ENTRY(family##_s64, Args, family<arith::S64>)           \
  ENTRY(family##_u8, Args, family<arith::U8>)             \
  ENTRY(family##_u16, Args, family<arith::U16>)           \
  ENTRY(family##_u32, Args, family<arith::U32>)           \
  ENTRY(family##_u64, Args, family<arith::U64>)           \
  ENTRY(family##_f16, Args, family<arith::F16>)           \
  ENTRY(family##_bf16, Args, family<arith::BF16>)         \
  ENTRY(family##_f32, Args, family<arith::F32>)           \
  ENTRY(family##_f64, Args, family<arith::F64>)           \
  ENTRY(family##_f8e4m3fn, Args, family<arith::F8E4M3FN>) \
  ENTRY(family##_f8e5m2, Args, family<arith::F8E5M2>)     \
  ENTRY(family##_c64, Args, family<arith::C64>)           \
  ENTRY(family##_c128, Args, family<arith::C128>)
#define ORRERY_KERNELS_OF_ALL(ENTRY, family, Args) \
  ORRERY_KERNELS_OF_PRED(ENTRY, family, Args)      \
  ORRERY_KERNELS_OF_NUMBERS(ENTRY, family, Args)

#define ORRERY_KERNELS(ENTRY)                                    \
  ORRERY_KERNELS_OF_ALL(ENTRY, combine, CombineArgs)             \
  ENTRY(combine_ranked, CombineRankedArgs, combine_ranked)       \
  ENTRY(copy, CopyArgs, copy)                                    \
  ENTRY(fill, FillArgs, fill)                                    \
  ENTRY(move, MoveArgs, move)                                    \
  ENTRY(convert, ConvertArgs, convert)                           \
  ENTRY(rank, RankArgs, rank)                                    \
  ENTRY(its_rank, ItsRankArgs, its_rank)                         \
  ENTRY(unary, UnaryArgs, unary)                                 \
  ORRERY_KERNELS_OF_ALL(ENTRY, binary, BinaryArgs)               \
  ENTRY(compare, CompareArgs, compare)                           \
  ENTRY(select, SelectArgs<kFewCases>, select<kFewCases>)        \
  ENTRY(select_many, SelectArgs<kManyCases>, select<kManyCases>) \
  ENTRY(part, PartArgs, part)                                    \
  ENTRY(take, TakeArgs, take)                                    \
  ORRERY_KERNELS_OF_NUMBERS(ENTRY, scatter_add, ScatterArgs)     \
  ENTRY(iota, IotaArgs, iota)                                    \
  ORRERY_KERNELS_OF_ALL(ENTRY, reduce, ReduceArgs)               \
  ENTRY(dot_s8, DotArgs, dot<arith::S8>)                         \
  ENTRY(dot_u8, DotArgs, dot<arith::U8>)                         \
  ENTRY(dot_u32, DotArgs, dot<arith::U32>)                       \
  ENTRY(dot_u64, DotArgs, dot<arith::U64>)                       \
  ENTRY(dot_f16, DotArgs, dot<arith::F16>)                       \
  ENTRY(dot_bf16, DotArgs, dot<arith::BF16>)                     \
  ENTRY(dot_f32, DotArgs, dot<arith::F32>)                       \
  ENTRY(dot_f64, DotArgs, dot<arith::F64>)                       \
  ENTRY(dot_f8e4m3fn, DotArgs, dot<arith::F8E4M3FN>)             \
  ENTRY(dot_f8e5m2, DotArgs, dot<arith::F8E5M2>)                 \
  ENTRY(dot_c64, DotArgs, dot<arith::C64>)                       \
  ENTRY(dot_c128, DotArgs, dot<arith::C128>)                     \
  ENTRY(any_dot_u32, DotArgs, any_dot<arith::U32>)               \
  ENTRY(any_dot_u64, DotArgs, any_dot<arith::U64>)               \
  ENTRY(any_dot_f32, DotArgs, any_dot<arith::F32>)               \
  ENTRY(any_dot_f64, DotArgs, any_dot<arith::F64>)               \
  ENTRY(any_dot_c64, DotArgs, any_dot<arith::C64>)               \
  ENTRY(any_dot_c128, DotArgs, any_dot<arith::C128>)
