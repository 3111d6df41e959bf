#pragma once

// The dtypes by number. dtype.h says more about them. Freestanding.

#include <stdint.h>

namespace orrery {

enum class Dtype : uint8_t {
  Pred,
  S8,
  S16,
  S32,
  S64,
  U8,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64,
  F8E4M3FN,
  F8E5M2,
  C64,
  C128,
};

}  // namespace orrery
