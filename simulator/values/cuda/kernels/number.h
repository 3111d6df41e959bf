#pragma once

// An element of a dtype known at run time, as a number. Every element is exactly an element of s64,
// u64, f32, f64, c64 or c128, and converts to any other dtype as that one does (arith::convert). So
// 17 ways in and 6 x 17 ways out do for 17 x 17 conversions. Freestanding.

#include "models/array/arith.h"
#include "models/array/element_types.h"
#include "models/array/xla_cpu.h"
#include "simulator/values/cuda/kernels/device_pointer.h"

namespace orrery::cuda {

class Number {
 public:
  template <class E>
  ORRERY_HOST_DEVICE explicit Number(E x) {
    if constexpr (arith::kSame<E, arith::F64>) {
      set(Kind::Double, arith::bits_of(x), 0);
    } else if constexpr (arith::kIsFloat<E>) {
      set(Kind::Single, arith::bits_of(arith::convert<arith::F32>(x)), 0);
    } else if constexpr (arith::kIsComplex<E>) {
      const Number re(x.re);
      const Number im(x.im);
      set(re.kind_ == Kind::Double ? Kind::ComplexDouble : Kind::ComplexSingle, re.first_,
          im.first_);
    } else if constexpr (arith::kSame<E, arith::Pred>) {
      set(Kind::Unsigned, x.value, 0);
    } else {
      using Int = decltype(E::value);
      set(arith::kIsSigned<Int> ? Kind::Signed : Kind::Unsigned, static_cast<uint64_t>(x.value), 0);
    }
  }

  /// Requires another dtype than the number came from: a conversion to the same keeps all bits.
  template <class E>
  ORRERY_HOST_DEVICE E as() const {
    switch (kind_) {
      case Kind::Signed:
        return arith::convert<E>(arith::S64{static_cast<int64_t>(first_)});
      case Kind::Unsigned:
        return arith::convert<E>(arith::U64{first_});
      case Kind::Single:
        return arith::convert<E>(single(first_));
      case Kind::Double:
        return arith::convert<E>(arith::F64{arith::double_of(first_)});
      case Kind::ComplexSingle:
        return arith::convert<E>(arith::C64{single(first_), single(second_)});
      case Kind::ComplexDouble:
        break;
    }
    return arith::convert<E>(arith::C128{{arith::double_of(first_)}, {arith::double_of(second_)}});
  }

 private:
  enum class Kind : uint8_t { Signed, Unsigned, Single, Double, ComplexSingle, ComplexDouble };

  ORRERY_HOST_DEVICE static arith::F32 single(uint64_t bits) {
    return {arith::float_of(static_cast<uint32_t>(bits))};
  }
  ORRERY_HOST_DEVICE void set(Kind kind, uint64_t first, uint64_t second) {
    kind_ = kind;
    first_ = first;
    second_ = second;
  }

  Kind kind_;
  uint64_t first_;
  uint64_t second_;
};

/// Whether subnormals are taken as zeros (arith::xla_cpu::flushed).
enum class Flush : uint8_t { No, Yes };

ORRERY_HOST_DEVICE inline Number load_number(Dtype dtype, DevicePointer from, int64_t index,
                                             Flush flush) {
  return with_element_type(dtype, [&](auto tag) {
    using E = typename decltype(tag)::type;
    const E x = at<const E>(from)[index];
    return Number(flush == Flush::Yes ? arith::xla_cpu::flushed(x) : x);
  });
}

}  // namespace orrery::cuda
