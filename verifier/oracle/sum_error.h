#pragma once

// How far the sums and the means of collectives can be from exact ones.

#include "models/array/combine.h"
#include "models/array/dtype.h"

namespace orrery {

/// Of a sum of `count` floats of the dtype, in any order, whose magnitudes add up to `magnitude`:
/// (n - 1) u magnitude. By XlaCpu a sum that is held in a wider dtype of roundoff v is off by
/// (n - 1) v magnitude and rounded once, u (1 + (n - 1) v) magnitude; and each of its operands and
/// partial sums may be flushed. Of a complex dtype magnitudes and the error are in the plane.
double sum_error(Dtype dtype, double count, double magnitude, Numerics numerics);

/// Of a mean r of magnitude `size`, what is added to the sum's error over n: u |r| + half_smallest.
/// By XlaCpu n and 1/n are rounded too, and r may be flushed.
double mean_rounding(Dtype dtype, double size, Numerics numerics);

}  // namespace orrery
