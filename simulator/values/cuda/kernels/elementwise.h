#pragma once

// The elementwise ops, as models/array/element_ops.h has their functions. A result may lie in an
// operand's place. Freestanding.

#include "models/array/element_ops.h"
#include "models/array/element_types.h"
#include "models/array/rows.h"
#include "simulator/values/cuda/kernels/computed.h"
#include "simulator/values/cuda/kernels/move.h"
#include "simulator/values/cuda/kernels/number.h"

namespace orrery::cuda {

/// An operand: its element i is i steps from its first. A scalar has a step of 0.
struct Operand {
  DevicePointer first;
  int64_t step;
};

struct UnaryArgs {
  DevicePointer to;
  Operand operand;
  int64_t to_step;
  int64_t items;
  Dtype dtype;
  Unary op;
  Flush flush;  // operand and result
};

/// Functions are computed in f64 or c128, to which elements convert exactly, and the result is
/// converted back: that is how functions.h rounds. So one copy of them does for all element types.
ORRERY_HOST_DEVICE inline void unary(const UnaryArgs& args, int64_t first, int64_t stride) {
  ORRERY_ROLLED
  for (int64_t i = first; i < args.items; i += stride) {
    const int64_t from = i * args.operand.step;
    const int64_t to = i * args.to_step;
    arith::C128 wide = {};
    bool is_complex = false;
    with_element_type(args.dtype, [&](auto tag) {
      using E = typename decltype(tag)::type;
      const E element = at<const E>(args.operand.first)[from];
      const E x = args.flush == Flush::Yes ? arith::xla_cpu::flushed(element) : element;
      if constexpr (arith::kIsInteger<E>)
        at<E>(args.to)[to] = arith::negate(x);
      else if constexpr (arith::kIsFloat<E> || arith::kIsComplex<E>)
        wide = arith::convert<arith::C128>(x);
      is_complex = arith::kIsComplex<E>;
    });
    if (is_complex)
      arith::with_function<arith::C128>(args.op, [&](auto function) { wide = function(wide); });
    else
      arith::with_function<arith::F64>(args.op,
                                       [&](auto function) { wide.re = function(wide.re); });
    with_element_type(args.dtype, [&](auto tag) {
      using E = typename decltype(tag)::type;
      if constexpr (arith::kIsFloat<E> || arith::kIsComplex<E>) {
        E result = {};
        if constexpr (arith::kIsComplex<E>)
          result = arith::convert<E>(wide);
        else
          result = arith::convert<E>(wide.re);
        at<E>(args.to)[to] = args.flush == Flush::Yes ? arith::xla_cpu::flushed(result) : result;
      }
    });
  }
}

struct BinaryArgs {
  DevicePointer to;
  Operand left;
  Operand right;
  int64_t items;
  Binary op;
  Numerics numerics;
};

template <class E>
ORRERY_HOST_DEVICE void binary(const BinaryArgs& args, int64_t first, int64_t stride) {
  using Wide = Computed<E>;
  ORRERY_ROLLED
  for (int64_t i = first; i < args.items; i += stride) {
    const auto x = arith::convert<Wide>(at<const E>(args.left.first)[i * args.left.step]);
    const auto y = arith::convert<Wide>(at<const E>(args.right.first)[i * args.right.step]);
    arith::with_function<Wide>(args.op, args.numerics, [&](auto function) {
      at<E>(args.to)[i] = arith::convert<E>(function(x, y));
    });
  }
}

/// The result is pred.
struct CompareArgs {
  DevicePointer to;
  Operand left;
  Operand right;
  int64_t items;
  Dtype dtype;  // of the operands
  Comparison op;
  Flush flush;
};

ORRERY_HOST_DEVICE inline void compare(const CompareArgs& args, int64_t first, int64_t stride) {
  ORRERY_ROLLED
  for (int64_t i = first; i < args.items; i += stride) {
    bool holds = false;
    with_element_type(args.dtype, [&](auto tag) {
      using E = typename decltype(tag)::type;
      E x = at<const E>(args.left.first)[i * args.left.step];
      E y = at<const E>(args.right.first)[i * args.right.step];
      if (args.flush == Flush::Yes) {
        x = arith::xla_cpu::flushed(x);
        y = arith::xla_cpu::flushed(y);
      }
      arith::with_function<E>(args.op, [&](auto function) { holds = function(x, y); });
    });
    at<uint8_t>(args.to)[i] = holds ? 1 : 0;
  }
}

/// Cases first_case ... of select_n, as many as an argument can name: elements for which another
/// one is chosen are left alone.
template <int kMost>
struct SelectArgs {
  DevicePointer to;
  Operand which;
  Dtype which_dtype;  // pred or s32
  int64_t items;
  int64_t word;  // bytes of an element
  int64_t all_cases;
  int64_t first_case;
  int64_t cases;
  DevicePointer of_case[kMost];
  uint8_t is_scalar[kMost];
};

template <int kMost>
ORRERY_HOST_DEVICE void select(const SelectArgs<kMost>& args, int64_t first, int64_t stride) {
  ORRERY_ROLLED
  for (int64_t i = first; i < args.items; i += stride) {
    const int64_t place = i * args.which.step;
    const int64_t asked = args.which_dtype == Dtype::Pred
                              ? int64_t{at<const uint8_t>(args.which.first)[place]}
                              : int64_t{at<const int32_t>(args.which.first)[place]};
    const int64_t chosen = arith::clamped(asked, args.all_cases - 1) - args.first_case;
    if (chosen < 0 || chosen >= args.cases)
      continue;
    const WordCopy copy = {args.word, false};
    copy(args.to, i, args.of_case[chosen], args.is_scalar[chosen] != 0 ? 0 : i);
  }
}

inline constexpr int kFewCases = 4;
inline constexpr int kManyCases = 440;

}  // namespace orrery::cuda
