#pragma once

// These kernels fold: the steps of collectives, reductions along dimensions, and dot_general. Each
// keeps the order and the roundings of the host (models/array/work.h and kernels.h). The file is
// freestanding.

#include "models/array/element_types.h"
#include "models/array/folds.h"
#include "simulator/values/cuda/kernels/elements.h"
#include "simulator/values/cuda/kernels/places.h"

namespace orrery::cuda {

/// The kernel computes target[i] = left[i] op right[i], as combine_into of models/array/work.h
/// does. The target may be left, right or both.
struct CombineArgs {
  DevicePointer target;
  DevicePointer left;
  DevicePointer right;
  Packing packing;
  Combine combine;
  Numerics numerics;
};

template <class E>
ORRERY_HOST_DEVICE void combine(const CombineArgs& args, int64_t first, int64_t stride) {
  E* const target = at<E>(args.target);
  const E* const left = at<const E>(args.left);
  const E* const right = at<const E>(args.right);
  arith::with_step<E>(args.combine, args.numerics, [&](auto step) {
    for_each_pack<E>(
        args.packing, first, stride,
        [&](int64_t e) {
          const Pack<E> x = load_pack(left + e);
          const Pack<E> y = load_pack(right + e);
          Pack<E> result;
          ORRERY_UNROLLED
          for (int k = 0; k < Pack<E>::kElements; ++k)
            result.elements[k] = step(x.elements[k], y.elements[k]);
          store_pack(target + e, result);
        },
        [&](int64_t e) { target[e] = step(left[e], right[e]); });
  });
}

struct CombineRankedArgs {
  DevicePointer target;
  DevicePointer left;
  DevicePointer right;
  int64_t items;  // elements with their ranks
  Dtype dtype;
  Combine combine;
  Numerics numerics;
};

ORRERY_HOST_DEVICE inline void combine_ranked(const CombineRankedArgs& args, int64_t first,
                                              int64_t stride) {
  with_element_type(args.dtype, [&](auto tag) {
    using E = typename decltype(tag)::type;
    if constexpr (arith::kIsOrdered<E>) {
      ORRERY_ROLLED
      for (int64_t i = first; i < args.items; i += stride) {
        const auto a = load_ranked<E>(args.left, i);
        const auto b = load_ranked<E>(args.right, i);
        store_ranked(args.target, i, arith::comes_first(args.combine, args.numerics, a, b) ? a : b);
      }
    }
  });
}

/// The kernel reduces along dimensions. An item is an element of the result.
struct ReduceArgs {
  DevicePointer to;
  DevicePointer from;
  Box kept;    // from the operand's element of which all folded indices are 0, to the result's
  Box folded;  // from there on in the operand
  Combine combine;
  Numerics numerics;
};

/// Computes acc = step(acc, element) over the elements that one element of the result folds, in
/// row-major order. Some elements are read ahead, since each step waits for the one before.
template <class E, class Acc, class Step>
ORRERY_HOST_DEVICE Acc folded(const ReduceArgs& args, const E* from, Acc acc, Step step) {
  constexpr int kAhead = 4;
  const int last = args.folded.rank - 1;
  const int64_t length = last < 0 ? 1 : args.folded.dims[last];
  const int64_t apart = last < 0 ? 0 : args.folded.from[last];
  ORRERY_ROLLED
  for (int64_t row = 0; row < args.folded.items; row += length) {
    const E* const begin = from + places_of(args.folded, row).from;
    ORRERY_ROLLED
    for (int64_t i = 0; i < length; i += kAhead) {
      E ahead[kAhead];
      ORRERY_UNROLLED
      for (int k = 0; k < kAhead; ++k)
        ahead[k] = begin[(i + k < length ? i + k : i) * apart];
      ORRERY_UNROLLED
      for (int k = 0; k < kAhead; ++k)
        if (i + k < length)
          acc = step(acc, ahead[k]);
    }
  }
  return acc;
}

/// With Numerics::XlaCpu operands and sums are flushed; the step itself is that of IEEE.
template <class E>
ORRERY_HOST_DEVICE void reduce(const ReduceArgs& args, int64_t first, int64_t stride) {
  using Acc = Computed<E>;  // reduced_sum_dtype(), in which extrema of narrower floats are exact
  const bool flushes = args.numerics == Numerics::XlaCpu;
  const Acc start = arith::convert<Acc>(arith::identity<E>(args.combine));
  ORRERY_ROLLED
  for (int64_t i = first; i < args.kept.items; i += stride) {
    const Places places = places_of(args.kept, i);
    const E* const from = at<const E>(args.from) + places.from;
    Acc result = start;
    arith::with_step<Acc>(args.combine, Numerics::Ieee, [&](auto step) {
      result = folded(args, from, start, [&](Acc acc, E element) {
        const E x = flushes ? arith::xla_cpu::flushed(element) : element;
        const Acc next = step(acc, arith::convert<Acc>(x));
        return flushes ? arith::xla_cpu::flushed(next) : next;
      });
    });
    at<E>(args.to)[places.to] = arith::convert<E>(result);
  }
}

/// The kernel does dot_general. In each box `from` is in the left operand and `to` in the right
/// one; a dimension that an operand does not have has a stride of 0 there.
struct DotArgs {
  DevicePointer to;
  DevicePointer lhs;
  DevicePointer rhs;
  int64_t items;  // tiles
  Dtype dtype;    // of the operands
  Dtype sum;
  Dtype result;
  Box batch;
  Box rows;
  Box columns;
  Box depth;  // the products of a sum
};

/// Returns sum + x y, both rounded. A NaN of a float is made canonical only at the end.
template <class Sum>
ORRERY_HOST_DEVICE Sum with_product(Sum sum, Sum x, Sum y) {
  if constexpr (arith::kIsFloat<Sum>)
    return {sum.value + x.value * y.value};
  else
    return arith::add(sum, arith::multiply(x, y));
}
template <class Sum>
ORRERY_HOST_DEVICE Sum canonical_sum(Sum sum) {
  if constexpr (arith::kIsFloat<Sum>)
    return arith::round<Sum>(sum.value);
  else
    return sum;
}

/// left(offset) and right(offset) return elements of the operands as Sum. store(place, sum) is
/// called for each element of the result. An item is a tile of kTile rows times kTile columns of
/// the result. The rows and columns of a tile are far apart, so that neighbouring threads read
/// neighbouring columns.
template <class Sum, int kTile, class Left, class Right, class Store>
ORRERY_HOST_DEVICE void dot_tiles(const DotArgs& args, int64_t first, int64_t stride, Left left,
                                  Right right, Store store) {
  const int64_t rows = args.rows.items;
  const int64_t columns = args.columns.items;
  const int64_t tile_rows = (rows + kTile - 1) / kTile;
  const int64_t tile_columns = (columns + kTile - 1) / kTile;
  const int last = args.depth.rank - 1;
  const int64_t length = last < 0 ? 1 : args.depth.dims[last];
  const int64_t left_step = last < 0 ? 0 : args.depth.from[last];
  const int64_t right_step = last < 0 ? 0 : args.depth.to[last];
  ORRERY_ROLLED
  for (int64_t item = first; item < args.items; item += stride) {
    const Quotient across = divide(item, tile_columns, is_small(args.items));
    const Quotient down = divide(across.quotient, tile_rows, is_small(args.items));
    const Places batch = places_of(args.batch, down.quotient);
    int64_t left_at[kTile];
    int64_t right_at[kTile];
    Sum sums[kTile][kTile];
    ORRERY_UNROLLED
    for (int t = 0; t < kTile; ++t) {
      // Rows and columns beyond the last one repeat the first of the tile.
      const int64_t row = down.rest + t * tile_rows;
      const int64_t column = across.rest + t * tile_columns;
      left_at[t] = batch.from + places_of(args.rows, row < rows ? row : down.rest).from;
      right_at[t] = batch.to + places_of(args.columns, column < columns ? column : across.rest).to;
      ORRERY_UNROLLED
      for (int u = 0; u < kTile; ++u)
        sums[t][u] = {};
    }
    ORRERY_ROLLED
    for (int64_t k = 0; k < args.depth.items; k += length) {
      Places depth = places_of(args.depth, k);
      ORRERY_ROLLED
      for (int64_t i = 0; i < length; ++i) {
        Sum x[kTile];
        Sum y[kTile];
        ORRERY_UNROLLED
        for (int t = 0; t < kTile; ++t) {
          x[t] = left(left_at[t] + depth.from);
          y[t] = right(right_at[t] + depth.to);
        }
        ORRERY_UNROLLED
        for (int t = 0; t < kTile; ++t) {
          ORRERY_UNROLLED
          for (int u = 0; u < kTile; ++u)
            sums[t][u] = with_product(sums[t][u], x[t], y[u]);
        }
        depth.from += left_step;
        depth.to += right_step;
      }
    }
    ORRERY_UNROLLED
    for (int t = 0; t < kTile; ++t) {
      const int64_t row = down.rest + t * tile_rows;
      ORRERY_UNROLLED
      for (int u = 0; u < kTile; ++u) {
        const int64_t column = across.rest + u * tile_columns;
        if (row < rows && column < columns)
          store((down.quotient * rows + row) * columns + column, canonical_sum(sums[t][u]));
      }
    }
  }
}

/// DotSum has the dot_sum_dtype of operands and a result of E.
template <class E>
struct DotSum {
  using Type = Computed<E>;
};
template <class Int>
struct DotSum<arith::Integer<Int>> {
  using Type = arith::Integer<typename arith::Word<sizeof(Int) < 8 ? 4 : 8>::Type>;
};
inline constexpr int kDotTile = 4;

/// Multiplies operands of E, summing in DotSum<E>. The result is of E, or has the sums' bits.
template <class E>
ORRERY_HOST_DEVICE void dot(const DotArgs& args, int64_t first, int64_t stride) {
  using Sum = typename DotSum<E>::Type;
  const auto element = [](DevicePointer operand) {
    return [operand](int64_t offset) { return arith::convert<Sum>(at<const E>(operand)[offset]); };
  };
  const bool converts = args.result == args.dtype;
  const DevicePointer to = args.to;
  dot_tiles<Sum, kDotTile>(args, first, stride, element(args.lhs), element(args.rhs),
                           [converts, to](int64_t place, Sum sum) {
                             if (converts)
                               at<E>(to)[place] = arith::convert<E>(sum);
                             else
                               at<Sum>(to)[place] = sum;
                           });
}

/// Multiplies operands of any dtype and gives a result of any dtype, element by element.
template <class Sum>
ORRERY_HOST_DEVICE void any_dot(const DotArgs& args, int64_t first, int64_t stride) {
  const Dtype dtype = args.dtype;
  const bool converts_operands = dtype != args.sum;
  const auto element = [dtype, converts_operands](DevicePointer operand) {
    return [dtype, converts_operands, operand](int64_t offset) {
      return converts_operands ? load_number(dtype, operand, offset, Flush::No).template as<Sum>()
                               : at<const Sum>(operand)[offset];
    };
  };
  const Dtype result = args.result;
  const bool converts_sum = result != args.sum;
  const DevicePointer to = args.to;
  dot_tiles<Sum, 1>(args, first, stride, element(args.lhs), element(args.rhs),
                    [result, converts_sum, to](int64_t place, Sum sum) {
                      if (!converts_sum) {
                        at<Sum>(to)[place] = sum;
                        return;
                      }
                      const Number number(sum);
                      with_element_type(result, [&](auto tag) {
                        using E = typename decltype(tag)::type;
                        at<E>(to)[place] = number.template as<E>();
                      });
                    });
}

}  // namespace orrery::cuda
