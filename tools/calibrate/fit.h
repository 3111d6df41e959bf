#pragma once

// Fits figures of a cluster to measured times: it says which figures are free, and has the search.

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

/// This is a figure that may be fitted, as a positive whole number of a base unit (ps, B or B/s).
struct FreeFigure {
  std::string name;  // "transport/ll/latency", as in Cluster::sources
  int64_t start = 1;
  std::optional<int64_t> most = {};  // the largest value that a fit may give it
  bool has_source = false;           // whether a source states its start
  std::function<void(Cluster&, int64_t)> set;
  std::function<std::string(int64_t)> text;  // "0.9 us"
};

/// Returns the figures of the cluster that are free:
///  - the bandwidth of the links, if all have the same. It stays within what a data sheet states,
///    since payload gets less;
///  - every time, rate and channel_bytes of the transport, and the device's copy_rate, if they are
///    given and their source does not say "data sheet" or "measured".
/// On a topology of nodes only the network's figures are free: what protocols have under "network",
/// and all of the protocols that serve only groups over several nodes. The others are those of one
/// node.
std::vector<FreeFigure> free_figures(const Cluster& cluster);
/// Returns the same figures, on a topology of nodes those of one node too.
std::vector<FreeFigure> figures_of_fits(const Cluster& cluster);

/// Returns the topology of nodes that the cluster has; null if it has another.
const Nodes* nodes_of(const Cluster& cluster);

/// Returns whether the figure is of the protocol: "transport/ll/latency" of "ll". The name may go
/// on: "ll/network".
bool is_of(const std::string& figure, const std::string& protocol);

/// Returns the value rounded to three digits.
int64_t three_digits(double value);

struct FitOptions {
  int evaluations = 500;  // how often at most all calls are timed
  Limits limits;
};

struct Fit {
  Cluster cluster;               // with the fitted figures, rounded to three digits
  std::vector<FreeFigure> free;  // those that a call's time depends on; others keep their start
  std::vector<int64_t> fitted;   // the value of each of them
  /// Per figure: whether the search ended at its smallest or largest value.
  std::vector<bool> at_bound;
};

/// Minimises the mean of |log(modelled / measured)| over the calls, so that twice and half the time
/// count the same, and one odd row counts little. Half of the mean of |mean log| of each collective
/// and size band, which is their bias, is added to that, and a little for the distance of figures
/// from their sources. The search begins at `start`, and each figure stays within a factor of 100
/// of its start. The same input gives the same fit.
Fit fit(const Cluster& start, std::span<const MeasuredCall> calls, const FitOptions& options);

/// The range of each argument of a search.
struct SearchBounds {
  std::vector<double> least;
  std::vector<double> most;
};

/// Moves `at` to where `error` is smaller, with at most so many evaluations, by two searches that
/// need no derivatives: they do not exist where another method becomes the fastest or another
/// channel is used. The same input gives the same result. Throws InputError in an executable
/// without NLopt, and what `error` throws.
void minimise(const std::function<double(std::span<const double>)>& error,
              const SearchBounds& bounds, std::vector<double>& at, int evaluations);

/// Returns at most `most` calls of each table, evenly over its rows, with the first and the last.
std::vector<MeasuredCall> thinned(std::span<const MeasuredCall> calls, size_t most);

}  // namespace orrery
