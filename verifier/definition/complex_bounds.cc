#include <cmath>
#include <limits>

#include "models/base/check.h"
#include "verifier/definition/local_bounds.h"

namespace orrery {

namespace {

constexpr double kSquareRootOf5 = 0x1.1e3779b97f4a8p+1;

/// Returns whether the exact operand may be on the other side of the branch cut: whether a number
/// within x.error of x.value is on the cut. The sign of zero says on which side an exact operand
/// is.
bool meets_cut(ApproximateComplex x) {
  if (x.error == 0)
    return false;
  const double distance = x.value.re <= 0 ? std::fabs(x.value.im) : arith::magnitude(x.value);
  return !(distance > x.error);
}

/// Returns the error of a result that is computed in f64, in units of 2^-53 times the result. The
/// numbers are from models/array/functions.h.
double units(Unary op, double result) {
  switch (op) {
    case Unary::Neg:
      return 0;
    case Unary::Sqrt:
      return 4;
    case Unary::Exp:
    case Unary::Rsqrt:
    case Unary::Sin:
    case Unary::Cos:
      return 8;
    case Unary::Log:
      return 24;
    case Unary::Logistic:
      return 16 * (1 + result);
  }
  fail_check("op is an enumerator", "an op is one of the enumeration", __FILE__, __LINE__);
}

/// Returns the error of XLA on the CPU, in units of the dtype's roundoff times the result. The
/// numbers are rounded up from the largest errors that were measured, with jax 0.10.2 on 2^20
/// random numbers. Their parts were between -8 and 8 for c64, and between -2 and 2 for c128. The
/// largest errors were
///  - exp 3.0, sqrt 2.7, rsqrt 4.9, sin 7.3, cos 5.5;
///  - logistic 3.7 (1 + |r|);
///  - log 1.7 (1 + 1 / |r|) for c64, and 51 (1 + 1 / |r|) for c128.
double units_of_xla(Unary op, double result, Dtype dtype) {
  switch (op) {
    case Unary::Neg:
      return 0;
    case Unary::Exp:
    case Unary::Sqrt:
      return 4;
    case Unary::Rsqrt:
      return 8;
    case Unary::Sin:
    case Unary::Cos:
      return 12;
    case Unary::Log:
      return (dtype == Dtype::C128 ? 64 : 4) * quotient(1 + result, result);
    case Unary::Logistic:
      return 8 * (1 + result);
  }
  fail_check("op is an enumerator", "an op is one of the enumeration", __FILE__, __LINE__);
}

constexpr double kUnitsOfQuotient = 6;
constexpr double kUnitsOfQuotientOfXla = 4;  // measured in the same way: 3.0

/// Returns the error of a result that is computed in f64 and then rounded to the dtype, both parts
/// once. Results may be subnormal, so half of the smallest number is added twice, once for each
/// part.
double rounded_once(double units_of_result, double result, Dtype dtype) {
  const FloatFormat computed = float_format(Dtype::C128);
  const double error =
      units_of_result * computed.unit_roundoff * result + 6 * computed.half_smallest;
  if (dtype == Dtype::C128)
    return error;
  const FloatFormat format = float_format(dtype);
  return error + format.unit_roundoff * result + 2 * format.half_smallest;
}

double rounded_by_xla(double units, double result, Dtype dtype) {
  const FloatFormat format = float_format(dtype);
  return units * format.unit_roundoff * result + 6 * format.half_smallest;
}

}  // namespace

double complex_carried_error(Unary op, ApproximateComplex x, double result) {
  const double e = x.error;
  const Approximate size = {arith::magnitude(x.value), e};
  switch (op) {
    case Unary::Neg:
    case Unary::Exp:
      return carried_error(op, size, result);
    case Unary::Log:
    case Unary::Rsqrt:
      return meets_cut(x) ? std::numeric_limits<double>::infinity()
                          : carried_error(op, size, result);
    case Unary::Sqrt:
      return meets_cut(x) ? std::numeric_limits<double>::infinity() : quotient(e, result);
    case Unary::Logistic: {
      const double factor = quotient(e, 1 - e) * (1 + result);
      return quotient(result * factor, 1 - factor);
    }
    case Unary::Sin:
    case Unary::Cos:
      return e == 0 ? 0 : e * arith::exp64(std::fabs(x.value.im) + e);
  }
  fail_check("op is an enumerator", "an op is one of the enumeration", __FILE__, __LINE__);
}

double complex_own_rounding(Unary op, double result, Dtype dtype, RoundedBy rounded_by) {
  if (op == Unary::Neg)
    return 0;
  return rounded_by == RoundedBy::Xla
             ? rounded_by_xla(units_of_xla(op, result, dtype), result, dtype)
             : rounded_once(units(op, result), result, dtype);
}

double complex_own_rounding(Binary op, double result, Dtype dtype, RoundedBy rounded_by) {
  const FloatFormat format = float_format(dtype);
  switch (op) {
    case Binary::Add:
    case Binary::Sub:
      return own_rounding(op, result, dtype, rounded_by);
    case Binary::Mul:
      return kSquareRootOf5 * format.unit_roundoff * result + 3 * format.half_smallest;
    case Binary::Div:
      return rounded_by == RoundedBy::Xla ? rounded_by_xla(kUnitsOfQuotientOfXla, result, dtype)
                                          : rounded_once(kUnitsOfQuotient, result, dtype);
    case Binary::Max:
    case Binary::Min:
      break;
  }
  fail_check("op is arithmetic", "complex numbers have no order", __FILE__, __LINE__);
}

}  // namespace orrery
