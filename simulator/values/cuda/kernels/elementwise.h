#pragma once

// These kernels make each element by itself: the elementwise ops (models/array/element_ops.h),
// conversions, and iota. A result may lie in an operand's place. The file is freestanding.

#include "models/array/arith.h"
#include "models/array/element_ops.h"
#include "models/array/element_types.h"
#include "models/array/rows.h"
#include "simulator/values/cuda/kernels/elements.h"
#include "simulator/values/cuda/kernels/move.h"
#include "simulator/values/cuda/kernels/places.h"

namespace orrery::cuda {

/// Element i of an Operand is i steps from its first. A scalar has a step of 0.
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
/// converted back, as functions.h rounds. So one copy of the functions is enough for all types.
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

/// SelectArgs has the cases of select_n from first_case on, as many as an argument can name.
/// Elements for which another case is chosen are left alone.
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

// The next kernels give elements another dtype, wherever they lie. They do convert_element_type,
// and the entry and exit of a collective's elements (enter and leave of models/array/work.h).

/// Then is the change of an element after its conversion.
enum class Then : uint8_t {
  Nothing,
  Flush,  // before the conversion too
  Start,  // as the first of a fold of XLA on the CPU; of inexact dtypes
  Mean,   // of a sum over `ranks`; of inexact dtypes
};

struct ConvertArgs {
  DevicePointer to;
  DevicePointer from;
  Box box;
  Dtype to_dtype;
  Dtype from_dtype;
  Then then;
  Combine combine;    // of Start
  Numerics numerics;  // of Mean
  int64_t ranks;      // of Mean
};

template <class E>
ORRERY_HOST_DEVICE E finished(const ConvertArgs& args, E x) {
  if constexpr (arith::kIsFloat<E> || arith::kIsComplex<E>) {
    if (args.then == Then::Flush)
      return arith::xla_cpu::flushed(x);
    if (args.then == Then::Start)
      return arith::started(args.combine, x);
    if (args.then == Then::Mean)
      return arith::mean(x, args.ranks, args.numerics);
  }
  return x;
}

ORRERY_HOST_DEVICE inline void convert(const ConvertArgs& args, int64_t first, int64_t stride) {
  const Flush flush = args.then == Then::Flush ? Flush::Yes : Flush::No;
  const bool same = args.from_dtype == args.to_dtype;
  ORRERY_ROLLED
  for (int64_t i = first; i < args.box.items; i += stride) {
    const Places places = places_of(args.box, i);
    const Number x =
        same ? Number(arith::Pred{0}) : load_number(args.from_dtype, args.from, places.from, flush);
    with_element_type(args.to_dtype, [&](auto tag) {
      using E = typename decltype(tag)::type;
      const E converted = same ? at<const E>(args.from)[places.from] : x.template as<E>();
      at<E>(args.to)[places.to] = finished(args, converted);
    });
  }
}

/// The kernel gives elements the rank that they come from.
struct RankArgs {
  DevicePointer to;
  DevicePointer from;
  Box box;
  int32_t rank;
  Dtype dtype;
  Combine combine;
  Numerics numerics;
};

ORRERY_HOST_DEVICE inline void rank(const RankArgs& args, int64_t first, int64_t stride) {
  ORRERY_ROLLED
  for (int64_t i = first; i < args.box.items; i += stride) {
    const Places places = places_of(args.box, i);
    with_element_type(args.dtype, [&](auto tag) {
      using E = typename decltype(tag)::type;
      if constexpr (arith::kIsOrdered<E>) {
        const E x = at<const E>(args.from)[places.from];
        store_ranked(args.to, places.to, arith::ranked(args.combine, args.numerics, x, args.rank));
      }
    });
  }
}

/// The kernel takes the ranks of elements that have them.
struct ItsRankArgs {
  DevicePointer to;
  DevicePointer from;
  Box box;
  int64_t ranked_size;  // of an element with its rank
};

ORRERY_HOST_DEVICE inline void its_rank(const ItsRankArgs& args, int64_t first, int64_t stride) {
  ORRERY_ROLLED
  for (int64_t i = first; i < args.box.items; i += stride) {
    const Places places = places_of(args.box, i);
    const int64_t end = (places.from + 1) * args.ranked_size;
    at<int32_t>(args.to)[places.to] =
        load_bytes<int32_t>(args.from + static_cast<uint64_t>(end) - sizeof(int32_t));
  }
}

/// The kernel makes elements that are their own index along a dimension.
struct IotaArgs {
  DevicePointer to;
  int64_t items;
  int64_t inner;  // elements with one index, side by side
  int64_t extent;
  Dtype dtype;
};

ORRERY_HOST_DEVICE inline void iota(const IotaArgs& args, int64_t first, int64_t stride) {
  ORRERY_ROLLED
  for (int64_t i = first; i < args.items; i += stride) {
    const int64_t outer = divide(i, args.inner, is_small(args.items)).quotient;
    const int64_t index = divide(outer, args.extent, is_small(args.items)).rest;
    with_element_type(args.dtype, [&](auto tag) {
      using E = typename decltype(tag)::type;
      at<E>(args.to)[i] = arith::convert<E>(arith::S64{index});
    });
  }
}

}  // namespace orrery::cuda
