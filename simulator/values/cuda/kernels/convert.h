#pragma once

// Elements under another dtype, wherever they lie: convert_element_type, and what happens to
// elements as they enter a collective and leave it (enter and leave of models/array/work.h).
// Freestanding.

#include "simulator/values/cuda/kernels/box.h"
#include "simulator/values/cuda/kernels/bytes.h"
#include "simulator/values/cuda/kernels/number.h"

namespace orrery::cuda {

/// What becomes of an element after its conversion.
enum class Then : uint8_t {
  Nothing,
  Flush,  // before it too
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

/// Elements that get the rank that they come from.
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

/// The ranks of elements that have them.
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

}  // namespace orrery::cuda
