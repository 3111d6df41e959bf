#pragma once

// Fits figures of a cluster to measured times.

#include <cstdint>
#include <span>
#include <vector>

#include "models/fabric/fabric.h"
#include "models/scenario/size_limits.h"
#include "models/scenario/size_limits.h"
#include "tools/calibrate/free_figure.h"
#include "tools/calibrate/measured_call.h"

namespace orrery {

struct FitOptions {
  int evaluations = 500;  // at most, of the whole set of calls
  Limits limits;
};

struct Fit {
  Cluster cluster;               // with the fitted figures, rounded to three digits
  std::vector<FreeFigure> free;  // those that a time of a call depends on; others keep their start
  std::vector<int64_t> fitted;   // of each of them
  std::vector<bool> at_bound;    // of each: whether the search ended at its least or its most
};

/// Minimises the mean of |log(modelled / measured)| over the calls, so that twice and half the time
/// count the same, and one odd row little; besides, half of the mean of |mean log| of each
/// collective and size band, which is their bias. Begins at `start`; each figure stays within a
/// factor of 100 of it. Deterministic.
Fit fit(const Cluster& start, std::span<const MeasuredCall> calls, const FitOptions& options);

/// At most `most` calls of each table, evenly over its rows, first and last included.
std::vector<MeasuredCall> thinned(std::span<const MeasuredCall> calls, size_t most);

}  // namespace orrery
