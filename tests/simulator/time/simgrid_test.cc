// Compares flows that share links with SimGrid 3.32, which divides links by max-min fairness too.
// tools/run_simgrid writes the flow sets of this test to a file, gives them and our routes to
// SimGrid, and stores the times of its ends in tests/data/simgrid/ends.txt: a line for each set,
// with its seed and the end of each flow in picoseconds.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "models/fabric/topology.h"
#include "simulator/network/paths.h"
#include "simulator/time/engine.h"
#include "tests/simulator/time/sketch.h"

namespace orrery::test {
namespace {

constexpr uint64_t kFlowSets = 500;

LinkFigures random_link(Random& random) {
  return {BytesPerSecond(random.between(1'000'000'000, 100'000'000'000)), Duration(0)};
}

uint32_t up_to(Random& random, int64_t least, int64_t most) {
  return static_cast<uint32_t>(random.between(least, most));
}

std::shared_ptr<const Topology> random_tree(Random& random, size_t levels) {
  std::vector<TreeLevel> made;
  for (size_t level = 0; level < levels; ++level)
    made.push_back({up_to(random, 2, 4), level == 0 ? 1 : up_to(random, 1, 3), up_to(random, 1, 2),
                    random_link(random)});
  return std::make_shared<const Tree>(made);
}

std::shared_ptr<const Topology> random_torus(Random& random) {
  std::vector<TorusDimension> dimensions(up_to(random, 1, 3));
  for (TorusDimension& dimension : dimensions)
    dimension = {up_to(random, 2, 4), random.below(2) == 0, random_link(random)};
  return std::make_shared<const Torus>(dimensions);
}

/// Nodes share one switch outside, or have a rail for each NIC.
std::shared_ptr<const Topology> random_nodes(Random& random) {
  NodesForm form;
  form.nodes = up_to(random, 2, 5);
  const uint32_t devices = up_to(random, 1, 2) * 2;
  form.inside = random.below(2) == 0
                    ? switch_fabric(devices, random_link(random)).shared_topology()
                    : fully_connected_fabric(devices, random_link(random)).shared_topology();
  form.nics = random.below(2) == 0 ? devices : devices / 2;
  form.rails = random.below(2) == 0;
  form.over_nodes = form.rails && random.below(2) == 0;
  form.nic = random_link(random);
  if (form.rails) {
    const std::vector<TreeLevel> rails = {{form.nodes, 1, 1, random_link(random)},
                                          {form.nics, up_to(random, 1, 3), 1, random_link(random)}};
    form.outside = std::make_shared<const Tree>(rails);
  } else {
    form.outside = switch_fabric(form.nodes * form.nics, random_link(random)).shared_topology();
  }
  return std::make_shared<const Nodes>(form);
}

/// A FlowSet has at most one flow from each device, so that a device's part ends with the last of
/// the flows that it sends and receives.
struct FlowSet {
  Fabric fabric;
  std::vector<Flow> flows;
};

FlowSet random_flow_set(uint64_t seed) {
  Random random(seed + 1);
  const auto topology = [&]() -> std::shared_ptr<const Topology> {
    switch (seed % 6) {
      case 0:
        return random_tree(random, 1);
      case 1:
        return random_tree(random, 2);
      case 2:
        return random_tree(random, 3);
      case 3:
        return random_torus(random);
      case 4:
        return random_nodes(random);
      default: {
        const LinkFigures link = random_link(random);  // first, whatever the compiler
        return fully_connected_fabric(up_to(random, 3, 6), link).shared_topology();
      }
    }
  };
  FlowSet set{Fabric(topology()), {}};
  const uint32_t devices = set.fabric.devices();
  const uint64_t senders = std::min<uint64_t>(devices, 40);
  for (uint32_t from = 0; from < senders; ++from) {
    const auto to = static_cast<uint32_t>(random.below(devices));
    if (to != from)
      set.flows.push_back({from, to, random.between(1'000'000, 16'000'000)});
  }
  return set;
}

/// Returns the links of a flow. Each flow has the first channel of its ends.
const Route& route_of(Paths& paths, const Flow& flow) {
  return paths.find(VertexId(flow.from), VertexId(flow.to), 0)->links;
}

TEST_CASE("simgrid: 500 random flow sets on fabrics of every kind end within 1e-6 of SimGrid's") {
  std::ifstream file(ORRERY_SOURCE_ROOT "/tests/data/simgrid/ends.txt");
  std::string line;
  uint64_t compared = 0;
  size_t flows_compared = 0;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    uint64_t seed = 0;
    words >> seed;
    CAPTURE(seed);
    const FlowSet set = random_flow_set(seed);
    const uint32_t devices = set.fabric.devices();
    std::vector<int64_t> ends(devices, 0);
    for (const Flow& flow : set.flows) {
      int64_t end = 0;
      words >> end;
      REQUIRE_FALSE(words.fail());
      ends[flow.from] = std::max(ends[flow.from], end);
      ends[flow.to] = std::max(ends[flow.to], end);
      ++flows_compared;
    }
    Sketch sketch(devices);
    sketch.sync(sketch.site(flows(devices, set.flows)));
    const Completion completion = simulate(sketch.program, sketch.lowered, set.fabric);
    for (uint32_t d = 0; d < devices; ++d) {
      CAPTURE(d);
      const int64_t ours = completion.spans[0][d].end.picoseconds();
      CHECK(std::abs(ours - ends[d]) <= ends[d] / 1'000'000);
    }
    ++compared;
  }
  CHECK(compared == kFlowSets);
  CHECK(flows_compared > 4'000);
}

// Writes, for each set: its seed, and how many links and flows it has; the bandwidth of each link
// in B/s; and for each flow its bytes, how many links its route has, and which.
TEST_CASE("simgrid: writes its flow sets" *
          doctest::skip(std::getenv("ORRERY_WRITE_FLOW_SETS") == nullptr)) {
  std::ofstream file(std::getenv("ORRERY_WRITE_FLOW_SETS"));
  for (uint64_t seed = 0; seed < kFlowSets; ++seed) {
    const FlowSet set = random_flow_set(seed);
    Paths paths(set.fabric);
    file << seed << ' ' << set.fabric.count_links() << ' ' << set.flows.size() << '\n';
    for (uint32_t link = 0; link < set.fabric.count_links(); ++link)
      file << set.fabric.figures(LinkId(link)).bandwidth.count() << '\n';
    for (const Flow& flow : set.flows) {
      const Route& route = route_of(paths, flow);
      file << flow.elements << ' ' << route.size();
      for (const LinkId link : route)
        file << ' ' << link.index();
      file << '\n';
    }
  }
  CHECK(file.good());
}

}  // namespace
}  // namespace orrery::test
