#include "verifier/definition/rounding.h"

#include "models/array/work.h"

namespace orrery {

double sum_error(Dtype dtype, double count, double magnitude, Numerics numerics) {
  const Dtype held = folding({dtype}, Combine::Add, numerics).held.dtype;
  const double roundings = count > 1 ? count - 1 : 0;
  const double folding_error = roundings * float_format(held).unit_roundoff;
  const FloatFormat format = float_format(dtype);
  if (numerics == Numerics::Ieee || magnitude == 0)
    return folding_error * magnitude;
  const double at_end =
      held == dtype ? 0
                    : format.unit_roundoff * (1 + folding_error) * magnitude + format.half_smallest;
  return folding_error * magnitude + at_end +
         2 * parts_of(dtype) * count * flushed_below(held, numerics);
}

double mean_rounding(Dtype dtype, double size, Numerics numerics) {
  const FloatFormat format = float_format(dtype);
  const double roundings = numerics == Numerics::Ieee ? 1 : 3;
  return roundings * format.unit_roundoff * size +
         parts_of(dtype) * (format.half_smallest + flushed_below(dtype, numerics));
}

}  // namespace orrery
