#pragma once

// Elements that are their own index along a dimension. Freestanding.

#include "models/array/arith.h"
#include "models/array/element_types.h"
#include "simulator/values/cuda/kernels/box.h"

namespace orrery::cuda {

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
