#pragma once

// These kernels move elements without a change, or fill memory: copies, boxes, and elements that
// indices look up. scatter_add is here too: it adds where indices point. The file is freestanding.

#include "models/array/element_types.h"
#include "models/array/folds.h"
#include "models/array/rows.h"
#include "simulator/values/cuda/kernels/elements.h"
#include "simulator/values/cuda/kernels/places.h"

namespace orrery::cuda {

/// Elements are words of `word` bytes, the most that both addresses allow.
struct CopyArgs {
  DevicePointer to;
  DevicePointer from;
  int64_t word;
  Packing packing;
};

template <class Word>
ORRERY_HOST_DEVICE void copy_words(const CopyArgs& args, int64_t first, int64_t stride) {
  Word* const to = at<Word>(args.to);
  const Word* const from = at<const Word>(args.from);
  for_each_pack<Word>(
      args.packing, first, stride, [&](int64_t e) { store_pack(to + e, load_pack(from + e)); },
      [&](int64_t e) { to[e] = from[e]; });
}

ORRERY_HOST_DEVICE inline void copy(const CopyArgs& args, int64_t first, int64_t stride) {
  switch (args.word) {
    case 8:
      return copy_words<uint64_t>(args, first, stride);
    case 4:
      return copy_words<uint32_t>(args, first, stride);
    case 2:
      return copy_words<uint16_t>(args, first, stride);
    default:
      return copy_words<uint8_t>(args, first, stride);
  }
}

/// Elements are bytes. Byte k of a pack is byte k of the pattern. Elements before the first pack
/// and after the last continue the pattern.
struct FillArgs {
  DevicePointer to;
  Packing packing;
  uint8_t pattern[kPackSize<uint8_t>];
};

ORRERY_HOST_DEVICE inline void fill(const FillArgs& args, int64_t first, int64_t stride) {
  uint8_t* const to = at<uint8_t>(args.to);
  Pack<uint8_t> pattern;
  ORRERY_UNROLLED
  for (int k = 0; k < Pack<uint8_t>::kElements; ++k)
    pattern.elements[k] = args.pattern[k];
  for_each_pack<uint8_t>(
      args.packing, first, stride, [&](int64_t e) { store_pack(to + e, pattern); },
      [&](int64_t e) {
        to[e] = args.pattern[static_cast<uint64_t>(e - args.packing.head) % kPackSize<uint8_t>];
      });
}

/// Places are counted in words of `word` bytes: 1, 2, 4, 8 or 16.
struct MoveArgs {
  DevicePointer to;
  DevicePointer from;
  int64_t word;
  Box box;
};

/// TwoWords is 16 bytes that are aligned to 8, as elements of c128 may be.
struct TwoWords {
  uint64_t words[2];
};

/// It copies words of `size` bytes. `aligned` says that words of 16 bytes lie at multiples of 16.
struct WordCopy {
  ORRERY_HOST_DEVICE void operator()(DevicePointer to, int64_t to_index, DevicePointer from,
                                     int64_t from_index) const {
    with_word([&](auto word) {
      using Word = decltype(word);
      at<Word>(to)[to_index] = at<const Word>(from)[from_index];
    });
  }
  /// Stores the first word of `value`, which has 16 bytes and lies at a multiple of 16.
  ORRERY_HOST_DEVICE void store(DevicePointer to, int64_t to_index, const uint8_t* value) const {
    with_word([&](auto word) {
      __builtin_memcpy(&word, value, sizeof(word));
      at<decltype(word)>(to)[to_index] = word;
    });
  }

  int64_t size;
  bool aligned;

 private:
  template <class Use>
  ORRERY_HOST_DEVICE void with_word(Use use) const {
    switch (size) {
      case 1:
        return use(uint8_t{});
      case 2:
        return use(uint16_t{});
      case 4:
        return use(uint32_t{});
      case 8:
        return use(uint64_t{});
      default:
        return aligned ? use(PackWords<16>{}) : use(TwoWords{});
    }
  }
};

ORRERY_HOST_DEVICE inline void move_words(const Box& box, DevicePointer to, DevicePointer from,
                                          int64_t word, int64_t first, int64_t stride) {
  const WordCopy copy = {word, (to | from) % 16 == 0};
  ORRERY_ROLLED
  for (int64_t i = first; i < box.items; i += stride) {
    const Places places = places_of(box, i);
    copy(to, places.to, from, places.from);
  }
}

ORRERY_HOST_DEVICE inline void move(const MoveArgs& args, int64_t first, int64_t stride) {
  move_words(args.box, args.to, args.from, args.word, first, stride);
}

// The next kernels look up indices: dynamic_slice, dynamic_update_slice, take and scatter_add.
// models/array/rows.h says what an index means.

/// Indices are integers.
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

/// A Start says where a part begins along a dimension of the whole.
struct Start {
  Indices index;
  int64_t extent;  // of the whole
  int64_t most;    // the whole's extent minus the part's
  int64_t stride;  // in words
};

/// The kernel moves a part out of a whole, or into it. The part begins where indices say.
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

/// The kernel takes rows of `row_words` words of `word` bytes.
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
    const Quotient in_row = divide(i, args.row_words, is_small(args.items));
    const Quotient in_block = divide(in_row.quotient, args.count, is_small(args.items));
    const arith::Row row =
        arith::row_of(index_at(args.indices, in_block.rest), args.rows, args.mode);
    if (row.exists)
      copy(args.to, i, args.from,
           (in_block.quotient * args.rows + row.row) * args.row_words + in_row.rest);
    else
      copy.store(args.to, i, args.fill);
  }
}

/// The kernel adds rows of `size` elements to `sums`. An item is a column of a block, and its sums
/// take their addends in the order of the indices.
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
    const Quotient column = divide(item, args.size, is_small(args.items));
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
