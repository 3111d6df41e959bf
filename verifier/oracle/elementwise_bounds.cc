#include "verifier/oracle/elementwise_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

/// The largest error in f64, in units in the last place: models/array/transcendental.h.
double units_in_the_last_place(Unary op) {
  switch (op) {
    case Unary::Neg:
      return 0;
    case Unary::Sqrt:
      return 0.5;
    case Unary::Exp:
    case Unary::Log:
    case Unary::Sin:
    case Unary::Cos:
      return 1;
    case Unary::Rsqrt:
      return 1.5;
    case Unary::Logistic:
      return 3;
  }
  fail_check("op is an enumerator", "an op is one of the enumeration", __FILE__, __LINE__);
}

}  // namespace

double quotient(double numerator, double denominator) {
  if (numerator == 0)
    return 0;
  return denominator > 0 ? numerator / denominator : std::numeric_limits<double>::infinity();
}

double carried_error(Unary op, Approximate x, double result) {
  const double e = x.error;
  switch (op) {
    case Unary::Neg:
      return e;
    case Unary::Exp:
      return quotient(result * e, 1 - e);
    case Unary::Log:
      return quotient(e, x.size - e);
    case Unary::Sqrt:
      return std::min(quotient(e, result), std::sqrt(e));
    case Unary::Rsqrt:
      return quotient(result * e, 2 * (x.size - e));
    case Unary::Logistic:
      return std::min(quotient(result * e, 1 - e), e / 4);
    case Unary::Sin:
    case Unary::Cos:
      return std::min(e, 2.0);
  }
  fail_check("op is an enumerator", "an op is one of the enumeration", __FILE__, __LINE__);
}

double carried_error(Binary op, Approximate x, Approximate y, double result) {
  switch (op) {
    case Binary::Add:
    case Binary::Sub:
      return x.error + y.error;
    case Binary::Mul:
      return x.size * y.error + (y.size + y.error) * x.error;
    case Binary::Div:
      return quotient(x.error + (y.error == 0 ? 0 : result * y.error), y.size - y.error);
    case Binary::Max:
    case Binary::Min:
      return std::max(x.error, y.error);
  }
  fail_check("op is an enumerator", "an op is one of the enumeration", __FILE__, __LINE__);
}

double own_rounding(Unary op, double result, Dtype dtype) {
  const FloatFormat format = float_format(dtype);
  const double units = units_in_the_last_place(op);
  if (units == 0)
    return 0;
  // Half a unit is at most unit_roundoff x |result|. Narrower floats round the result of f64, whose
  // error is less than the enlargement of every bound.
  const double halves = dtype == Dtype::F64 ? 2 * units : 1;
  return halves * (format.unit_roundoff * result + format.half_smallest);
}

double own_rounding(Binary op, double result, Dtype dtype) {
  const FloatFormat format = float_format(dtype);
  switch (op) {
    case Binary::Max:
    case Binary::Min:
      return 0;
    case Binary::Add:
    case Binary::Sub:  // exact where it is subnormal
      return format.unit_roundoff * result;
    case Binary::Mul:
    case Binary::Div:
      return format.unit_roundoff * result + format.half_smallest;
  }
  fail_check("op is an enumerator", "an op is one of the enumeration", __FILE__, __LINE__);
}

}  // namespace orrery
