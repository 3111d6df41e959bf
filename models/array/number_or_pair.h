#pragma once

#include <compare>
#include <optional>

namespace orrery {

/// What an element is filled with: a number, or for complex dtypes a pair of its real and its
/// imaginary part. A number alone has there an imaginary part of 0.
struct NumberOrPair {
  // NOLINTNEXTLINE(google-explicit-constructor): a number is given as it is
  constexpr NumberOrPair(double real) : re(real) {}
  constexpr NumberOrPair(double real, double imaginary) : re(real), im(imaginary) {}

  bool is_zero() const { return re == 0 && im.value_or(0) == 0; }
  friend auto operator<=>(const NumberOrPair&, const NumberOrPair&) = default;

  double re;
  std::optional<double> im;  // of a pair
};

}  // namespace orrery
