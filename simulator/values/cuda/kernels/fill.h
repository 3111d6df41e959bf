#pragma once

// Bytes that are copied, or filled with a pattern. Freestanding.

#include "simulator/values/cuda/kernels/packs.h"

namespace orrery::cuda {

/// Elements are words of `word` bytes: the most that both addresses allow.
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

/// Elements are bytes. Byte k of a pack is byte k of the pattern, which elements before the first
/// pack and after the last continue.
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

}  // namespace orrery::cuda
