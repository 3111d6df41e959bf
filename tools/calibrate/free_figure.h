#pragma once

// The figures of a cluster that calibration fits.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/fabric/fabric.h"

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

}  // namespace orrery
