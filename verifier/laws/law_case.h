#pragma once

// A LawCase is what is drawn for one case of a law: a value for each of its names, and what the law
// leaves open. A case depends on the law's text, the seed and the case's number alone.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/fabric/fabric.h"
#include "models/scenario/law.h"
#include "models/scenario/scenario.h"

namespace orrery {

/// The cluster of a law that has none. The first of each kind is the plainest.
struct DrawnCluster {
  enum class Fabric : uint8_t { Switch, Ring, Mesh } fabric = Fabric::Switch;
  uint8_t link = 0;    // which of a few bandwidths and latencies
  bool costs = false;  // whether launches, reductions and copies take time too
  friend auto operator<=>(const DrawnCluster&, const DrawnCluster&) = default;
};

struct LawCase {
  std::vector<TemplateValue> values;  // one for each name of the law
  uint64_t data = 0;                  // the seed of arrays that say nothing of their elements
  DrawnCluster cluster = {};
  /// If it is given, each collective that names no algorithm, slots or entry gets any algorithm
  /// that fits, drawn with this seed. By time alone it would always be the same one.
  std::optional<uint64_t> algorithms = {};
};

/// Returns the case with this number. First come the corners: all names have their least values
/// (case 0), all their greatest (case 1), each name alone its greatest. The others are random.
/// Values that the law does not admit are drawn again; `refused` counts these draws. Throws
/// InputError if that goes on and on.
LawCase drawn_case(const Law& law, uint64_t seed, uint64_t number, uint64_t& refused);

/// Draws values so many times, apart from those of all cases. Returns how often the law admits
/// them.
uint64_t admitted_draws(const Law& law, uint64_t seed, uint64_t draws);

/// Returns the least values that each draw may give after the earlier ones.
std::vector<TemplateValue> least_values(const Law& law);

/// Returns the values with each one made to fit the earlier ones.
std::vector<TemplateValue> fitted_values(const Law& law, std::vector<TemplateValue> values);

/// DrawnClusters makes each cluster once.
class DrawnClusters {
 public:
  const Cluster& of(const DrawnCluster& drawn, uint32_t devices);

 private:
  std::map<std::pair<DrawnCluster, uint32_t>, Cluster> made_;
};

/// Makes the scenario of a case. Throws InputError if it is none. Runs of many cases share their
/// clusters.
Scenario scenario_of(const Law& law, const LawCase& drawn);
Scenario scenario_of(const Law& law, const LawCase& drawn, DrawnClusters& clusters);

}  // namespace orrery
