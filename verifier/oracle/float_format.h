#pragma once

// The constants of the float dtypes that error bounds use.

#include <cstdint>
#include <limits>

#include "models/array/combine.h"
#include "models/array/dtype.h"
#include "models/base/check.h"

namespace orrery {

/// Whose roundings a bound is of: those of our values, by the program's numerics; the same, with
/// dot_general by cuBLASLt, which adds in any order, f16 and bf16 in tensor cores; or those of XLA
/// on the CPU, as jax 0.10.2 has it. Beside what Numerics::XlaCpu says, XLA adds in any order,
/// leaves out roundings to narrow dtypes between ops that it joins, or rounds to a wider dtype
/// before; multiplies by the rounded reciprocal of a constant instead of dividing by it; and has
/// less exact functions.
enum class RoundedBy : uint8_t { Orrery, CublasLt, Xla };

/// With rounding to nearest, a result r of magnitude up to `largest` has an error of at most
/// unit_roundoff x |r| + half_smallest. Sums and differences have at most unit_roundoff x |r|,
/// since they are exact where they are subnormal.
struct FloatFormat {
  double unit_roundoff;  // half the distance from 1 to the next number
  double half_smallest;  // half the smallest positive number (f64: that number itself)
  double largest;        // the largest finite number
};

/// XLA on the CPU flushes what it computes below this (arith::xla_cpu): each operand and result, of
/// complex numbers each part, is then off by less. 0 where nothing is flushed.
inline double flushed_below(Dtype dtype, Numerics numerics) {
  if (numerics == Numerics::Ieee)
    return 0;
  switch (part_dtype(dtype)) {
    case Dtype::F64:
      return 0x1p-1022;
    case Dtype::F32:
    case Dtype::BF16:
      return 0x1p-126;
    default:
      return 0;
  }
}

/// Error bounds are themselves computed in doubles, with at most n + 3 roundings of 2^-53 relative
/// each. This factor covers them, for every n that fits an id.
inline constexpr double kBoundSlack = 1 + 0x1p-20;

/// Of a complex dtype, that of its parts. Requires a float or complex dtype.
inline FloatFormat float_format(Dtype dtype) {
  switch (part_dtype(dtype)) {
    case Dtype::F16:
      return {0x1p-11, 0x1p-25, 65504.0};
    case Dtype::BF16:
      return {0x1p-8, 0x1p-134, 0x1.fep127};
    case Dtype::F32:
      return {0x1p-24, 0x1p-150, 0x1.fffffep127};
    case Dtype::F64:
      return {0x1p-53, 0x1p-1074, std::numeric_limits<double>::max()};
    case Dtype::F8E4M3FN:
      return {0x1p-4, 0x1p-10, 448.0};
    case Dtype::F8E5M2:
      return {0x1p-3, 0x1p-17, 57344.0};
    default:
      fail_check("a float dtype", "only floats round", __FILE__, __LINE__);
  }
}

/// By which absolute errors are multiplied: the distance of complex numbers is at most the sum of
/// the errors of both parts.
inline double parts_of(Dtype dtype) {
  return is_complex(dtype) ? 2 : 1;
}

/// Of a result that is rounded to a wider dtype before, too: XLA computes floats of 8 bits in f16,
/// and those of 16 bits in f32.
inline FloatFormat float_format(Dtype dtype, RoundedBy rounded_by) {
  FloatFormat format = float_format(dtype);
  const Bytes size = itemsize(dtype);
  if (rounded_by == RoundedBy::Xla && size < Bytes(4)) {
    const FloatFormat wide = float_format(size == Bytes(1) ? Dtype::F16 : Dtype::F32);
    format.unit_roundoff += wide.unit_roundoff;
    format.half_smallest += wide.half_smallest;
  }
  return format;
}

}  // namespace orrery
