#pragma once

// Elements that indices look up or add to: dynamic_slice, dynamic_update_slice, take and
// scatter_add. What an index means is in models/array/rows.h. Freestanding.

#include "models/array/element_types.h"
#include "models/array/folds.h"
#include "models/array/rows.h"
#include "simulator/values/cuda/kernels/move.h"

namespace orrery::cuda {

/// Integers.
struct Indices {
  DevicePointer first;
  Dtype dtype;
};

ORRERY_HOST_DEVICE inline int64_t index_at(const Indices& indices, int64_t place) {
  return with_element_type(indices.dtype, [&](auto tag) -> int64_t {
    using E = typename decltype(tag)::type;
    if constexpr (arith::kIsInteger<E>)
      return arith::as_index(at<const E>(indices.first)[place]);
    else
      return 0;
  });
}

/// Where a part begins along a dimension of the whole.
struct Start {
  Indices index;
  int64_t extent;  // of the whole
  int64_t most;    // that minus the part's
  int64_t stride;  // in words
};

/// A move of a part out of a whole, or into it, that begins where indices say.
struct PartArgs {
  MoveArgs move;
  bool into_whole;
  int32_t starts;
  Start start[kMostBoxDims];
};

ORRERY_HOST_DEVICE inline void part(const PartArgs& args, int64_t first, int64_t stride) {
  int64_t offset = 0;
  ORRERY_ROLLED
  for (int d = 0; d < args.starts; ++d) {
    const Start& start = args.start[d];
    const int64_t index = arith::counted_from_end(index_at(start.index, 0), start.extent);
    offset += arith::clamped(index, start.most) * start.stride;
  }
  const auto bytes = static_cast<uint64_t>(offset * args.move.word);
  const DevicePointer to = args.move.to + (args.into_whole ? bytes : 0);
  const DevicePointer from = args.move.from + (args.into_whole ? 0 : bytes);
  move_words(args.move.box, to, from, args.move.word, first, stride);
}

/// Rows of `row_words` words of `word` bytes.
struct TakeArgs {
  DevicePointer to;
  DevicePointer from;
  Indices indices;
  int64_t count;  // of indices
  int64_t rows;   // along the axis
  int64_t row_words;
  int64_t word;
  int64_t items;  // words of the result
  OutOfRange mode;
  alignas(16) uint8_t fill[16];  // a word where an index has no row
};

ORRERY_HOST_DEVICE inline void take(const TakeArgs& args, int64_t first, int64_t stride) {
  const WordCopy copy = {args.word, (args.to | args.from) % 16 == 0};
  ORRERY_ROLLED
  for (int64_t i = first; i < args.items; i += stride) {
    const Division in_row = divide(i, args.row_words, is_small(args.items));
    const Division in_block = divide(in_row.quotient, args.count, is_small(args.items));
    const arith::Row row =
        arith::row_of(index_at(args.indices, in_block.rest), args.rows, args.mode);
    if (row.exists)
      copy(args.to, i, args.from,
           (in_block.quotient * args.rows + row.row) * args.row_words + in_row.rest);
    else
      copy.store(args.to, i, args.fill);
  }
}

/// Adds rows of `size` elements to `sums`. An item is a column of a block: its sums take their
/// addends in the order of the indices.
struct ScatterArgs {
  DevicePointer sums;
  DevicePointer updates;
  Indices indices;
  int64_t count;  // of indices
  int64_t rows;   // along the axis
  int64_t size;
  int64_t items;
  OutOfRange mode;
  Numerics numerics;
};

template <class E>
ORRERY_HOST_DEVICE void scatter_add(const ScatterArgs& args, int64_t first, int64_t stride) {
  ORRERY_ROLLED
  for (int64_t item = first; item < args.items; item += stride) {
    const Division column = divide(item, args.size, is_small(args.items));
    E* const sums = at<E>(args.sums) + column.quotient * args.rows * args.size + column.rest;
    const E* const updates =
        at<const E>(args.updates) + column.quotient * args.count * args.size + column.rest;
    arith::with_step<E>(Combine::Add, args.numerics, [&](auto add) {
      ORRERY_ROLLED
      for (int64_t i = 0; i < args.count; ++i) {
        const arith::Row row = arith::row_of(index_at(args.indices, i), args.rows, args.mode);
        if (row.exists)
          sums[row.row * args.size] = add(sums[row.row * args.size], updates[i * args.size]);
      }
    });
  }
}

}  // namespace orrery::cuda
