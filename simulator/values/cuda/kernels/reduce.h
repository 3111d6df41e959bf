#pragma once

// Reductions along dimensions, in the order and with the roundings of reduce in
// models/array/kernels.h. Freestanding.

#include "models/array/folds.h"
#include "simulator/values/cuda/kernels/box.h"
#include "simulator/values/cuda/kernels/computed.h"

namespace orrery::cuda {

/// An item is an element of the result.
struct ReduceArgs {
  DevicePointer to;
  DevicePointer from;
  Box kept;    // from the operand's element of which all folded indices are 0, to the result's
  Box folded;  // from there on in the operand
  Combine combine;
  Numerics numerics;
};

/// acc = step(acc, element) over one element of the result, in row-major order. Some elements are
/// read ahead, since each step waits for the one before.
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

/// By XlaCpu operands and sums are flushed; the step itself is that of IEEE.
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

}  // namespace orrery::cuda
