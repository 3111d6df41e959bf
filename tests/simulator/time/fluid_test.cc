// Compares the engine's rounded rates and times with the exact fluid model: the same flows with
// rational rates and times.

#include <algorithm>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>
#include <doctest/doctest.h>

#include "models/base/random.h"
#include "simulator/time/engine.h"
#include "tests/models/fabric/shortest_route.h"
#include "tests/simulator/time/sketch.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

using Rational = boost::multiprecision::cpp_rational;

struct FluidFlow {
  LinkList route;
  Rational left;
  Rational rate;
  bool fixed = false;
  Rational end;
};

/// Sets the max-min rates by their definition: raises all unfixed flows together until a link is
/// full.
void share(const Fabric& fabric, std::vector<FluidFlow>& flows) {
  std::vector<Rational> residual;
  for (const Link& link : fabric.links())
    residual.emplace_back(link.bandwidth.count());
  for (FluidFlow& flow : flows) {
    flow.fixed = flow.left == 0;
    flow.rate = 0;
  }
  const auto crosses = [](const FluidFlow& flow, size_t link) {
    return !flow.fixed &&
           std::find(flow.route.begin(), flow.route.end(), LinkId(link)) != flow.route.end();
  };
  while (true) {
    std::optional<Rational> least;
    size_t full = 0;
    for (size_t l = 0; l < residual.size(); ++l) {
      const auto count = std::count_if(flows.begin(), flows.end(),
                                       [&](const FluidFlow& flow) { return crosses(flow, l); });
      if (count > 0 && (!least || residual[l] / count < *least)) {
        least = residual[l] / count;
        full = l;
      }
    }
    if (!least)
      return;
    for (FluidFlow& flow : flows) {
      if (!crosses(flow, full))
        continue;
      flow.fixed = true;
      flow.rate = *least;
      for (const LinkId link : flow.route)
        residual[link.index()] -= *least;
    }
  }
}

/// Computes when each flow ends, in picoseconds.
void run_fluid(const Fabric& fabric, std::vector<FluidFlow>& flows) {
  Rational now = 0;
  while (std::any_of(flows.begin(), flows.end(), [](const auto& flow) { return flow.left > 0; })) {
    share(fabric, flows);
    std::optional<Rational> next;
    for (const FluidFlow& flow : flows)
      if (flow.left > 0 && (!next || flow.left / flow.rate < *next))
        next = flow.left / flow.rate;
    now += *next;
    for (FluidFlow& flow : flows) {
      if (flow.left == 0)
        continue;
      flow.left -= flow.rate * *next;
      if (flow.left == 0)
        flow.end = now * kPicosecondsPerSecond;
    }
  }
}

TEST_CASE("engine: within 2 ps of the exact fluid on 200 random contended cases") {
  Random random(3);
  for (uint64_t trial = 0; trial < tries(200); ++trial) {
    // Every node sends at most one flow, so the sender's end is the end of the flow.
    const uint32_t devices = static_cast<uint32_t>(random.below(5)) + 3;
    std::vector<Link> links;
    for (uint32_t d = 0; d < devices; ++d) {
      const BytesPerSecond bandwidth(random.between(1'000'000'000, 100'000'000'000));
      links.push_back({VertexId(d), VertexId((d + 1) % devices), bandwidth, Duration(0)});
    }
    const Fabric fabric(devices, {}, links);
    std::vector<Flow> wanted;
    std::vector<FluidFlow> fluid;
    for (uint32_t d = 0; d < devices; ++d) {
      const uint32_t hops = static_cast<uint32_t>(random.below(devices - 1)) + 1;
      const uint32_t to = (d + hops) % devices;
      const int64_t bytes = random.between(1, 5'000'000);
      wanted.push_back({d, to, bytes});
      fluid.push_back({*shortest_route(fabric, VertexId(d), VertexId(to)), bytes, 0, false, 0});
    }
    run_fluid(fabric, fluid);
    Sketch sketch(devices);
    sketch.sync(sketch.site(flows(devices, wanted)));
    const Completion completion = simulate(sketch.program, sketch.lowered, fabric);
    // A device ends with the last of its own flow and the flows that it receives.
    for (uint32_t d = 0; d < devices; ++d) {
      Rational end = 0;
      for (uint32_t f = 0; f < devices; ++f)
        if (wanted[f].from == d || wanted[f].to == d)
          end = std::max(end, fluid[f].end);
      const Rational off = Rational(completion.spans[0][d].end.picoseconds()) - end;
      CAPTURE(trial);
      REQUIRE(off <= 2);
      REQUIRE(off >= -2);
    }
  }
}

}  // namespace
}  // namespace orrery::test
