#pragma once

// Element types have HLO's short names. arith.h has the meaning of their bits, and their
// arithmetic.

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "models/array/element_types.h"
#include "models/base/check.h"
#include "models/base/quantity.h"

namespace orrery {

/// Returns every dtype, in the order of the enumeration.
std::span<const Dtype> all_dtypes();

/// Returns HLO's short name, such as "pred", "s8" or "bf16".
std::string_view name(Dtype dtype);

/// Reads HLO's short name or that of NumPy and ml_dtypes ("float32", "int8", "bool", "float8_e5m2",
/// ...). Returns nothing if `text` is neither.
std::optional<Dtype> dtype_named(std::string_view text);

Bytes itemsize(Dtype dtype);

// Each dtype is a float, an integer, complex, or pred.
bool is_float(Dtype dtype);
bool is_integer(Dtype dtype);
bool is_complex(Dtype dtype);

bool is_signed(Dtype dtype);   // floats, complex dtypes and signed integers
bool is_inexact(Dtype dtype);  // floats and complex dtypes: what is computed of them is rounded

/// Returns the dtype of the real and of the imaginary part, or `dtype` itself if it is not complex.
Dtype part_dtype(Dtype dtype);
/// Returns the complex dtype with parts of this dtype, or nothing if there is none.
std::optional<Dtype> complex_of(Dtype part);

/// A NumberOrPair is the value that fills an element: a number, or for complex dtypes a pair of the
/// real and the imaginary part. A complex element that is filled with one number has an imaginary
/// part of 0.
struct NumberOrPair {
  // NOLINTNEXTLINE(google-explicit-constructor): a number is given as it is
  constexpr NumberOrPair(double real) : re(real) {}
  constexpr NumberOrPair(double real, double imaginary) : re(real), im(imaginary) {}

  bool is_zero() const { return re == 0 && im.value_or(0) == 0; }
  friend auto operator<=>(const NumberOrPair&, const NumberOrPair&) = default;

  double re;
  std::optional<double> im;  // of a pair
};

/// Calls `use` with the tag of the element type of `dtype`, and returns its result, as in
///   dispatch(dtype, [&](auto tag) { using E = typename decltype(tag)::type; ... });
template <class Use>
decltype(auto) dispatch(Dtype dtype, Use&& use) {
  ORRERY_CHECK(dtype <= Dtype::C128, "a dtype is one of the enumeration");
  return with_element_type(dtype, std::forward<Use>(use));
}

}  // namespace orrery
