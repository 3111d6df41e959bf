#pragma once

// dot_general in the order and with the roundings that models/array/kernels.h states.
// Freestanding.

#include "models/array/folds.h"
#include "simulator/values/cuda/kernels/box.h"
#include "simulator/values/cuda/kernels/computed.h"
#include "simulator/values/cuda/kernels/number.h"

namespace orrery::cuda {

/// In each box `from` is in the left operand and `to` in the right one; a dimension that an operand
/// does not have has a stride of 0 there.
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

/// sum + x y, both rounded. Floats: a NaN is made canonical at the end alone.
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

/// left(offset) and right(offset) are elements of the operands as Sum; store(place, sum) is called
/// for each of the result. An item is kTile rows times kTile columns of it: those of one tile are
/// far apart, so that threads side by side read columns side by side.
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
    const Division across = divide(item, tile_columns, is_small(args.items));
    const Division down = divide(across.quotient, tile_rows, is_small(args.items));
    const Places batch = places_of(args.batch, down.quotient);
    int64_t left_at[kTile];
    int64_t right_at[kTile];
    Sum sums[kTile][kTile];
    ORRERY_UNROLLED
    for (int t = 0; t < kTile; ++t) {
      // Beyond the last row and column they repeat the first of the tile.
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

/// dot_sum_dtype of operands and a result of E.
template <class E>
struct DotSum {
  using Type = Computed<E>;
};
template <class Int>
struct DotSum<arith::Integer<Int>> {
  using Type = arith::Integer<typename arith::Word<sizeof(Int) < 8 ? 4 : 8>::Type>;
};
inline constexpr int kDotTile = 4;

/// Operands of E, summed in DotSum<E>, in tiles of kDotTile. The result is of E, or has the sums'
/// bits.
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

/// Operands of any dtype, and a result of any, element by element.
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
