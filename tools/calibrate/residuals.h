#pragma once

// Computes how far modelled times are from measured ones, by collective, ranks and size band.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/calibrate/measured_call.h"

namespace orrery {

/// A band of sizes has the rows whose size in bytes is in [least, end).
struct SizeBand {
  const char* name;  // "1 to 64 MiB"
  int64_t least;
  int64_t end;
};
std::span<const SizeBand> size_bands();
const SizeBand& band_of(Bytes size);

/// This is one measured time beside the modelled one.
struct Residual {
  const MeasuredCall* call = nullptr;
  Duration measured;
  Duration modelled;
  /// Returns modelled / measured - 1, so 0.1 means that the model is 10 % too slow.
  double error() const;
};
/// Returns a residual for each measured time, in the order of the calls. `modelled` has one entry
/// per call.
std::vector<Residual> residuals(std::span<const MeasuredCall> calls,
                                std::span<const CallTime> modelled);

/// The errors of some residuals, as fractions.
struct ErrorSummary {
  size_t times = 0;
  double mean = 0;   // the mean of |error|
  double bias = 0;   // the mean of error
  double worst = 0;  // the error that is furthest from 0
};
ErrorSummary summary(std::span<const double> errors);
ErrorSummary summary(std::span<const Residual> residuals);

/// These return a fraction in percent: "5.1 %", or with a sign "+5.1 %".
std::string percent(double fraction);
std::string signed_percent(double fraction);

}  // namespace orrery
