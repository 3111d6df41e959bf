#pragma once

// exp, log and similar functions of float and complex elements: computed in f64 by transcendental.h
// and complex_functions.h, and each part rounded once. Freestanding.

#include "models/array/arith.h"
#include "models/array/complex_functions.h"
#include "models/array/host_device.h"
#include "models/array/transcendental.h"

namespace orrery::arith {

/// An element in the type that functions compute in.
template <class E>
ORRERY_HOST_DEVICE constexpr auto wide(E x) {
  if constexpr (kIsComplex<E>) {
    return Wide{wide(x.re), wide(x.im)};
  } else {
    static_assert(kIsFloat<E>);
    return static_cast<double>(widen(x));
  }
}

template <class E>
ORRERY_HOST_DEVICE constexpr E rounded(double x) {
  return round<E>(x);
}
template <class E>
ORRERY_HOST_DEVICE constexpr E rounded(Wide x) {
  return {round<typename E::Part>(x.re), round<typename E::Part>(x.im)};
}

template <class E>
ORRERY_HOST_DEVICE constexpr E exp(E x) {
  return rounded<E>(exp64(wide(x)));
}
template <class E>
ORRERY_HOST_DEVICE constexpr E log(E x) {
  return rounded<E>(log64(wide(x)));
}
/// Of floats correctly rounded, also of narrow ones: 53 bits are at least 2 * 24 + 2.
template <class E>
ORRERY_HOST_DEVICE inline E sqrt(E x) {
  return rounded<E>(sqrt64(wide(x)));
}
template <class E>
ORRERY_HOST_DEVICE inline E rsqrt(E x) {
  return rounded<E>(rsqrt64(wide(x)));
}
template <class E>
ORRERY_HOST_DEVICE constexpr E logistic(E x) {
  return rounded<E>(logistic64(wide(x)));
}
template <class E>
ORRERY_HOST_DEVICE constexpr E sin(E x) {
  return rounded<E>(sin64(wide(x)));
}
template <class E>
ORRERY_HOST_DEVICE constexpr E cos(E x) {
  return rounded<E>(cos64(wide(x)));
}

/// Of floats and integers arith.h divides.
template <class Part>
ORRERY_HOST_DEVICE constexpr Complex<Part> divide(Complex<Part> x, Complex<Part> y) {
  return rounded<Complex<Part>>(divided(wide(x), wide(y)));
}

template <class Part>
ORRERY_HOST_DEVICE constexpr Complex<Part> conjugate(Complex<Part> x) {
  return {x.re, negate(x.im)};
}

/// Of a float |x|, of a complex number the root of the squares of its parts. Not finite where a
/// part is not.
template <class E>
ORRERY_HOST_DEVICE inline double magnitude(E x) {
  if constexpr (kIsComplex<E>)
    return magnitude(wide(x));
  else
    return size_of(wide(x));
}

}  // namespace orrery::arith
