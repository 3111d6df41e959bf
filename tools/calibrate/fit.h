#pragma once

// Fits figures of a cluster to measured times: which figures are free, and the search.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/fabric/fabric.h"
#include "models/scenario/size_limits.h"
#include "tools/calibrate/measured_call.h"

namespace orrery {

/// A positive whole number of a base unit: ps, B or B/s.
struct FreeFigure {
  std::string name;  // "transport/ll/latency", as in Cluster::sources
  int64_t start = 1;
  std::optional<int64_t> most = {};  // beyond which it is not fitted
  bool has_source = false;           // of its start
  std::function<void(Cluster&, int64_t)> set;
  std::function<std::string(int64_t)> text;  // "0.9 us"
};

/// The bandwidth of the links, if all have the same; it stays within what a data sheet states,
/// since payload gets less. Every time and rate, and channel_bytes, of the transport, and the
/// device's copy_rate, where they are given; of these, those whose source says "data sheet" or
/// "measured" are kept.
std::vector<FreeFigure> free_figures(const Cluster& cluster);

/// Rounded to three digits.
int64_t three_digits(double value);

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
