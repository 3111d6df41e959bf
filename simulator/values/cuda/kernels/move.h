#pragma once

// Elements that are moved without a change. Freestanding.

#include "simulator/values/cuda/kernels/box.h"
#include "simulator/values/cuda/kernels/packs.h"

namespace orrery::cuda {

/// Places are counted in words of `word` bytes: 1, 2, 4, 8 or 16.
struct MoveArgs {
  DevicePointer to;
  DevicePointer from;
  int64_t word;
  Box box;
};

/// 16 bytes that are aligned to 8, as elements of c128 may be.
struct TwoWords {
  uint64_t words[2];
};

/// Copies a word of so many bytes. `aligned` says that words of 16 bytes lie at multiples of 16.
struct WordCopy {
  template <class Word>
  ORRERY_HOST_DEVICE static void run(DevicePointer to, int64_t to_index, DevicePointer from,
                                     int64_t from_index) {
    at<Word>(to)[to_index] = at<const Word>(from)[from_index];
  }

  ORRERY_HOST_DEVICE void operator()(DevicePointer to, int64_t to_index, DevicePointer from,
                                     int64_t from_index) const {
    switch (size) {
      case 1:
        return run<uint8_t>(to, to_index, from, from_index);
      case 2:
        return run<uint16_t>(to, to_index, from, from_index);
      case 4:
        return run<uint32_t>(to, to_index, from, from_index);
      case 8:
        return run<uint64_t>(to, to_index, from, from_index);
      default:
        return aligned ? run<PackWords<16>>(to, to_index, from, from_index)
                       : run<TwoWords>(to, to_index, from, from_index);
    }
  }

  int64_t size;
  bool aligned;
};

ORRERY_HOST_DEVICE inline void move(const MoveArgs& args, int64_t first, int64_t stride) {
  const WordCopy copy = {args.word, (args.to | args.from) % 16 == 0};
  ORRERY_ROLLED
  for (int64_t i = first; i < args.box.items; i += stride) {
    const Places places = places_of(args.box, i);
    copy(args.to, places.to, args.from, places.from);
  }
}

}  // namespace orrery::cuda
