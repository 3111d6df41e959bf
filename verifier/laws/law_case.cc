#include "verifier/laws/law_case.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/array/dtype.h"
#include "models/base/diagnostics.h"
#include "models/base/hash.h"
#include "models/base/random.h"
#include "models/program/rules.h"
#include "models/program/sides.h"
#include "simulator/algorithm/algorithms.h"

namespace orrery {
namespace {

constexpr std::array kLinks = {
    LinkFigures{BytesPerSecond(1'000'000'000), Duration(1'000'000)},
    LinkFigures{BytesPerSecond(50'000'000'000), Duration(300'000)},
    LinkFigures{BytesPerSecond(3'000'000'000), Duration(0)},
};

Fabric fabric_of(DrawnCluster::Fabric kind, uint32_t devices, LinkFigures link) {
  switch (kind) {
    case DrawnCluster::Fabric::Ring:
      return ring_fabric(devices, link);
    case DrawnCluster::Fabric::Mesh:
      return fully_connected_fabric(devices, link);
    case DrawnCluster::Fabric::Switch:
      break;
  }
  return switch_fabric(devices, link);
}

Cluster cluster_of(const DrawnCluster& drawn, uint32_t devices) {
  constexpr BytesPerSecond kRate(100'000'000'000);
  // Every group fits a ring of links only if there are three devices at least.
  Cluster made{.name = "drawn",
               .fabric = fabric_of(devices < 3 ? DrawnCluster::Fabric::Switch : drawn.fabric,
                                   devices, kLinks[drawn.link]),
               .device = {}};
  made.device.memory_bandwidth = kRate;
  for (const Dtype dtype : all_dtypes())
    made.device.flops.emplace(dtype, FlopsPerSecond(1'000'000'000'000));
  if (drawn.costs) {
    made.device.launch = Duration(2'000'000);
    made.device.reduce_rate = kRate;
    made.device.copy_rate = kRate;
  }
  return made;
}

bool fits(const Algorithm& algorithm, const Site& site, const Fabric& fabric) {
  return algorithm.offered_on(fabric) &&
         std::all_of(site.groups.begin(), site.groups.end(), [&](const Group& group) {
           std::vector<VertexId> ranks;
           for (const LogicalId device : group)
             ranks.emplace_back(device.index());
           return !algorithm.misfit({fabric, ranks});
         });
}

/// Gives each collective that leaves it open any algorithm that fits its groups.
void choose_algorithms(Scenario& scenario, Random random) {
  for (const Site& site : scenario.program.sites) {
    const Op& first = scenario.program.op(site.ops.front());
    const bool open = std::all_of(site.ops.begin(), site.ops.end(), [&](OpId op) {
      const Hints& hints = scenario.program.op(op).hints;
      return !hints.algorithm && !hints.slots && hints.entry == Entry::Eager;
    });
    if (!open || !site.transfers.empty())
      continue;
    std::vector<const Algorithm*> fitting = algorithms_for(first.kind);
    std::erase_if(fitting, [&](const Algorithm* each) {
      return !fits(*each, site, scenario.cluster.fabric);
    });
    if (fitting.empty())
      continue;
    const std::string name(fitting[random.below(fitting.size())]->name);
    for (const OpId op : site.ops)
      scenario.program.ops[op.index()].hints.algorithm = name;
  }
}

enum class Corner : uint8_t { Least, Greatest };

/// Returns a value for each name: `value` makes the one with an index after the earlier values.
template <class Value>
std::vector<TemplateValue> each_value(const Law& law, Value value) {
  std::vector<TemplateValue> values;
  try {
    for (size_t i = 0; i < law.draws().size(); ++i)
      values.push_back(value(i, values));
  } catch (const InputError& error) {
    throw with_values_told(law, values, error);
  }
  return values;
}

/// Returns the values at a corner: `only` says which name alone has its greatest value.
std::vector<TemplateValue> corner(const Law& law, Corner of_all, std::optional<size_t> only = {}) {
  return each_value(law, [&](size_t i, const std::vector<TemplateValue>& values) {
    return of_all == Corner::Greatest || only == i ? law.draws()[i].greatest(law.file(), values)
                                                   : law.draws()[i].least(law.file(), values);
  });
}

std::vector<TemplateValue> random_values(const Law& law, Random& random) {
  return each_value(law, [&](size_t i, const std::vector<TemplateValue>& values) {
    return law.draws()[i].random(law.file(), values, random);
  });
}

std::vector<TemplateValue> first_values(const Law& law, uint64_t number, Random& random) {
  const size_t names = law.draws().size();
  if (number == 0)
    return corner(law, Corner::Least);
  if (number == 1)
    return corner(law, Corner::Greatest);
  if (names > 1 && number - 2 < names)
    return corner(law, Corner::Least, static_cast<size_t>(number - 2));
  return random_values(law, random);
}

/// Returns what draws the case with this number.
Random random_of(uint64_t seed, uint64_t number) {
  Hasher hasher;
  hasher.add(seed);
  hasher.add(number);
  return Random(hasher.word());
}

}  // namespace

LawCase drawn_case(const Law& law, uint64_t seed, uint64_t number, uint64_t& refused) {
  constexpr uint64_t kMostRefused = 10'000;
  Random random = random_of(seed, number);
  LawCase drawn{first_values(law, number, random)};
  for (uint64_t tries = 0; !law.admits(drawn.values); ++tries, ++refused) {
    if (tries == kMostRefused)
      throw InputError(law.file(), {{law.where_origin(),
                                     fmt::format("expected values that meet it, got none in {} "
                                                 "draws for case {}",
                                                 kMostRefused, number)}});
    drawn.values = random_values(law, random);
  }
  drawn.data = random.below(uint64_t{1} << 31U);
  drawn.cluster.fabric = static_cast<DrawnCluster::Fabric>(random.below(3));
  drawn.cluster.link = static_cast<uint8_t>(random.below(kLinks.size()));
  drawn.cluster.costs = random.below(2) == 1;
  const uint64_t algorithms = random.next();
  if (random.below(2) == 1)
    drawn.algorithms = algorithms;
  return drawn;
}

uint64_t admitted_draws(const Law& law, uint64_t seed, uint64_t draws) {
  constexpr uint64_t kNoCase = std::numeric_limits<uint64_t>::max();  // beyond the last number
  Random random = random_of(seed, kNoCase);
  uint64_t admitted = 0;
  for (uint64_t d = 0; d < draws; ++d)
    admitted += law.admits(random_values(law, random)) ? 1 : 0;
  return admitted;
}

std::vector<TemplateValue> least_values(const Law& law) {
  return corner(law, Corner::Least);
}

std::vector<TemplateValue> fitted_values(const Law& law, std::vector<TemplateValue> values) {
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = law.draws()[i].fitted(law.file(), std::span(values).first(i), std::move(values[i]));
  return values;
}

const Cluster& DrawnClusters::of(const DrawnCluster& drawn, uint32_t devices) {
  const std::pair wanted(drawn, devices);
  const auto known = made_.find(wanted);
  return known != made_.end() ? known->second
                              : made_.emplace(wanted, cluster_of(drawn, devices)).first->second;
}

Scenario scenario_of(const Law& law, const LawCase& drawn) {
  DrawnClusters clusters;
  return scenario_of(law, drawn, clusters);
}

Scenario scenario_of(const Law& law, const LawCase& drawn, DrawnClusters& clusters) {
  ScenarioDefaults defaults;
  defaults.init = RandomInit{drawn.data, RandomInit::Values::Integers};
  if (!law.has_cluster())
    defaults.cluster = [&](uint32_t devices) { return clusters.of(drawn.cluster, devices); };
  Scenario made = law.scenario(drawn.values, defaults);
  if (!law.has_cluster() && drawn.algorithms)
    choose_algorithms(made, Random(*drawn.algorithms));
  return made;
}

}  // namespace orrery
