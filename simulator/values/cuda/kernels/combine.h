#pragma once

// Folds: target[i] = left[i] op right[i], as combine_into of models/array/work.h has them. The
// target may be left, right or both. Freestanding.

#include "models/array/element_types.h"
#include "models/array/folds.h"
#include "simulator/values/cuda/kernels/bytes.h"
#include "simulator/values/cuda/kernels/packs.h"

namespace orrery::cuda {

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

}  // namespace orrery::cuda
