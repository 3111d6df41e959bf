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

/// Copies words of so many bytes. `aligned` says that words of 16 bytes lie at multiples of 16.
struct WordCopy {
  ORRERY_HOST_DEVICE void operator()(DevicePointer to, int64_t to_index, DevicePointer from,
                                     int64_t from_index) const {
    with_word([&](auto word) {
      using Word = decltype(word);
      at<Word>(to)[to_index] = at<const Word>(from)[from_index];
    });
  }
  /// Of 16 bytes at a multiple of 16, the first word.
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

}  // namespace orrery::cuda
