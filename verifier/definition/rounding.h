#pragma once

// This file has the roundings that error bounds count: the constants of the float dtypes, whose
// roundings they are, and what sums and means of collectives lose.

#include <cstdint>
#include <limits>

#include "models/array/combine.h"
#include "models/array/dtype.h"
#include "models/base/check.h"

namespace orrery {

/// Says whose roundings a bound counts.
enum class RoundedBy : uint8_t {
  Orrery,    // those of our values, by the program's numerics
  CublasLt,  // the same, but for dot_general by cuBLASLt: it adds in any order, f16 and bf16 in
             // tensor cores
  /// The roundings of XLA on the CPU, as jax 0.10.2 has it. Beside what Numerics::XlaCpu says, XLA
  /// adds in any order. It leaves out roundings to narrow dtypes between ops that it joins, or
  /// rounds to a wider dtype before. It multiplies by the rounded reciprocal of a constant instead
  /// of dividing by the constant, and its functions are less exact.
  Xla,
};

/// With rounding to nearest, a result r of magnitude up to `largest` has an error of at most
/// unit_roundoff x |r| + half_smallest. Sums and differences have at most unit_roundoff x |r|,
/// since they are exact where they are subnormal.
struct FloatFormat {
  double unit_roundoff;  // half the distance from 1 to the next number
  double half_smallest;  // half the smallest positive number (f64: that number itself)
  double largest;        // the largest finite number
};

/// Returns the magnitude below which XLA on the CPU flushes results to 0 (arith::xla_cpu). Each
/// operand and result, or each part of a complex one, is then off by less than this. Returns 0
/// where nothing is flushed.
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

/// Returns the format of a float dtype, or of the parts of a complex one. Requires one of these
/// dtypes.
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

/// Returns the factor of absolute errors: the distance of complex numbers is at most the sum of the
/// errors of both parts.
inline double parts_of(Dtype dtype) {
  return is_complex(dtype) ? 2 : 1;
}

/// Returns the format with XLA's earlier rounding to a wider dtype added: XLA computes floats of 8
/// bits in f16, and those of 16 bits in f32.
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

/// Returns how far a sum of `count` floats of the dtype can be from the exact one, in any order.
/// With n = `count` and magnitudes of the terms that add up to `magnitude`, it is (n - 1) u
/// magnitude. With XlaCpu a sum may be held in a wider dtype of roundoff v. Then it is off by (n -
/// 1) v magnitude, and rounded once, by u (1 + (n - 1) v) magnitude. Each of its operands and
/// partial sums may be flushed. For a complex dtype, magnitudes and the error are in the plane.
double sum_error(Dtype dtype, double count, double magnitude, Numerics numerics);

/// Returns the error of a mean r of magnitude `size`, without the sum's error over n: u |r| +
/// half_smallest. With XlaCpu n and 1/n are rounded too, and r may be flushed.
double mean_rounding(Dtype dtype, double size, Numerics numerics);

}  // namespace orrery
