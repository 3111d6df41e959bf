#pragma once

// This file computes running error bounds: how far each computed element can be from the value that
// exact arithmetic on the same arguments gives, to first order. Expectations `close` use them.
//
// A walk through the program computes the bounds of each op's results from those of its
// operands:
//  - Local ops have the rules of local_bounds.h. README.md has the formula of each op.
//  - For a collective, its definition is applied to the errors. Only its sums and means round.
//  - Integers and preds have a bound of 0, so that they are compared bit for bit. The bound is
//    infinite where errors of operands may change them.
//  - A result that is not finite has an infinite bound, since in another order nothing may
//    overflow. The bound is 0 where the result follows from exact infinities and NaNs.
//  - The bound of a complex element is on the distance in the plane, |a - b|.
// RoundedBy (rounding.h) says whose roundings are counted. Every bound is enlarged by 2^-20 of
// itself, which covers the roundings of the bounds' own arithmetic in doubles.

#include <vector>

#include "models/program/program.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/values.h"
#include "verifier/definition/rounding.h"

namespace orrery {

/// This is another run of the same program, with which values are compared.
struct OtherRun {
  const DeviceValues& values;
  const std::vector<bool>& same_bits;  // per value: whether both runs have the same, bit for bit
};

/// Returns, per value and device, an f64 tensor of the value's shape; empty for futures and values
/// without a tensor. Requires a program without loops that ends, and its `values`. With
/// RoundedBy::Xla the bounds cover what XLA computes from the same arguments.
///
/// With `other`, values that both runs have alike count as exact, with a bound of 0: the values of
/// same_bits, and each integer and pred that is the same in both.
DeviceValues error_bounds(const Program& program, const Lowered& lowered,
                          const DeviceValues& values, RoundedBy rounded_by = RoundedBy::Orrery,
                          const OtherRun* other = nullptr);

/// Returns the same for the values of the host executor on `arguments`, also with loops: of a value
/// in a loop it is the bound in the last iteration. The values are made again, iteration by
/// iteration, so the memory does not grow with the trip counts.
DeviceValues error_bounds_of_run(const Program& program, const Lowered& lowered,
                                 DeviceValues arguments, HostKernels kernels = {});

}  // namespace orrery
