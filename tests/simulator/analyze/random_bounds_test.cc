// Tests on random fabrics that no algorithm is quicker than its bound, and that bounds are tight.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "models/fabric/topology.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/analyze/fabric_bounds.h"
#include "tests/simulator/analyze/timed_call.h"
#include "tests/support/tries.h"
#include "tests/support/units.h"

namespace orrery::test {
namespace {

/// Returns figures that divide well: a bandwidth of 1 to 4 times 0.84 GB/s, and a latency.
LinkFigures any_figures(Random& random) {
  return {BytesPerSecond(840'000'000 * random.between(1, 4)),
          Duration(kUs / 4 * random.between(0, 3))};
}

/// Returns a fabric of 2 to 8 devices whose links are in a list. All reach each other.
Fabric any_list(Random& random) {
  const auto n = static_cast<uint32_t>(random.between(2, 8));
  const auto switches = static_cast<uint32_t>(random.below(3));
  std::vector<Link> links;
  const auto add = [&](uint32_t from, uint32_t to) {
    const LinkFigures figures = any_figures(random);
    if (from != to)
      links.push_back({VertexId(from), VertexId(to), figures.bandwidth, figures.latency});
  };
  const uint32_t vertices = n + switches;
  for (uint32_t v = 0; v < vertices; ++v)
    add(v, (v + 1) % vertices);
  for (uint64_t more = random.below(3 * vertices); more > 0; --more)
    add(static_cast<uint32_t>(random.below(vertices)),
        static_cast<uint32_t>(random.below(vertices)));
  return Fabric(n, std::vector<std::string>(switches, "s"), std::move(links));
}

Fabric any_tree(Random& random) {
  std::vector<TreeLevel> levels = {
      {static_cast<uint32_t>(random.between(1, 4)), 1, 1, any_figures(random)}};
  for (uint64_t more = random.below(3); more > 0; --more)
    levels.push_back({static_cast<uint32_t>(random.between(2, 3)),
                      static_cast<uint32_t>(random.between(1, 2)),
                      static_cast<uint32_t>(random.between(1, 2)), any_figures(random)});
  return Fabric(std::make_shared<const Tree>(std::move(levels), 1, random.below(3) == 0));
}

Fabric any_torus(Random& random) {
  std::vector<TorusDimension> dimensions;
  for (uint64_t d = 1 + random.below(3); d > 0; --d)
    dimensions.push_back(
        {static_cast<uint32_t>(random.between(1, 4)), random.below(2) == 0, any_figures(random)});
  return Fabric(std::make_shared<const Torus>(std::move(dimensions)));
}

Fabric any_nodes(Random& random) {
  const auto nodes = static_cast<uint32_t>(random.between(2, 4));
  const auto devices = static_cast<uint32_t>(random.between(1, 3));
  const uint32_t nics = random.below(2) == 0 ? devices : 1;
  NodesForm form;
  form.nodes = nodes;
  form.inside =
      std::make_shared<const Tree>(std::vector<TreeLevel>{{devices, 1, 1, any_figures(random)}});
  form.nics = nics;
  form.rails = random.below(2) == 0;
  form.over_nodes = form.rails && random.below(2) == 0;
  form.nic = any_figures(random);
  const TreeLevel leaf{nodes, 1, 1, any_figures(random)};
  if (form.rails)
    form.outside = std::make_shared<const Tree>(
        std::vector<TreeLevel>{leaf, {nics, 1, 1, any_figures(random)}});
  else
    form.outside = std::make_shared<const Tree>(
        std::vector<TreeLevel>{{nodes * nics, 1, 1, any_figures(random)}});
  return Fabric(std::make_shared<const Nodes>(std::move(form)));
}

Fabric any_fabric(Random& random) {
  const auto make = [&] {
    switch (random.below(5)) {
      case 0:
        return any_list(random);
      case 1:
        return any_tree(random);
      case 2:
        return any_torus(random);
      case 3:
        return any_nodes(random);
      default:
        return fully_connected_fabric(static_cast<uint32_t>(random.between(2, 6)),
                                      any_figures(random));
    }
  };
  Fabric fabric = make();
  if (random.below(4) == 0) {
    // Faults cut links, or divide their bandwidths.
    constexpr int64_t kParts = 3;
    std::vector<Link> links = fabric.links();
    for (Link& link : links) {
      link.cut = random.below(8) == 0;
      link.bandwidth = link.bandwidth * (random.below(4) == 0 ? 1 : kParts);
    }
    fabric = fabric.with_links(std::move(links), kParts);
  }
  std::vector<VertexId> reducing;
  for (uint32_t s = 0; s < fabric.switches(); ++s)
    if (random.below(3) == 0)
      reducing.emplace_back(fabric.devices() + s);
  return reducing.empty() ? fabric : fabric.with_reduction(reducing);
}

Call any_call(Random& random, int64_t n) {
  const int64_t part = random.between(1, 3) * (random.below(2) == 0 ? 1 : 10'000);
  switch (random.below(8)) {
    case 0:
      return {"all_gather", {{"tiled", true}}, {part}};
    case 1:
      return {"psum_scatter", {{"tiled", true}}, {n * part}};
    case 2:
      return {"all_to_all",
              {{"split_axis", int64_t{0}}, {"concat_axis", int64_t{0}}, {"tiled", true}},
              {n * part}};
    case 3:
      return {"pbroadcast", {{"source", random.between(0, n - 1)}}, {part}};
    case 4: {
      std::vector<std::vector<int64_t>> pairs;
      const int64_t by = random.between(0, n - 1);
      for (int64_t d = 0; d < n; ++d)
        if (random.below(4) != 0)
          pairs.push_back({d, (d + by) % n});
      return {"ppermute", {{"perm", pairs}}, {part}};
    }
    case 5:
      return {"pargmax", {}, {part}};
    case 6:
      return {"pmean", {}, {n * part + random.between(0, 2)}};
    default:
      return {"psum", {}, {n * part}};
  }
}

TEST_CASE("bounds: no algorithm is quicker, on 600 random fabrics") {
  Random random(35);
  size_t runs = 0;
  for (uint64_t i = 0; i < tries(600); ++i) {
    CAPTURE(i);
    const Fabric fabric = any_fabric(random);
    const auto devices = static_cast<int64_t>(fabric.devices());
    // The groups of a second axis are strided or consecutive.
    int64_t n = devices;
    if (random.below(2) == 0)
      while (n > 1 && (devices % n != 0 || n == devices))
        --n;
    std::vector<Axis> axes = {{"x", n}};
    if (n < devices)
      axes.insert(random.below(2) == 0 ? axes.begin() : axes.end(), {"y", devices / n});
    Call call = any_call(random, n);
    for (const Algorithm* algorithm : algorithms_for(op_named(call.op)->kind)) {
      CAPTURE(call.op);
      call.algorithm = algorithm->name;
      CAPTURE(call.algorithm);
      const std::optional<TimedCall> ran = try_timed(fabric, call, axes);
      if (!ran || !ran->bound)
        continue;
      ++runs;
      CHECK(ran->bound->least() <= ran->takes);
      REQUIRE(ran->busiest);
      CHECK(ran->busiest->takes <= ran->takes);
    }
  }
  CHECK(runs > 0);
}

/// The time of the tightest cut among sets of vertices that hold k of n ranks. `units` says, for k
/// and n, how many units must enter a set, or leave it.
class Sets {
 public:
  using Units = int64_t (*)(int64_t k, int64_t n);

  Sets(const Fabric& fabric, Bytes unit, bool enter, Units units)
      : fabric_(fabric), unit_(unit), enter_(enter), units_(units) {}

  void add(const std::vector<bool>& inside) {
    int64_t bandwidth = 0;
    for (const Link& link : fabric_.links())
      if (inside[link.from.index()] != inside[link.to.index()] && inside[link.to.index()] == enter_)
        bandwidth += link.bandwidth.count();
    const int64_t n = fabric_.devices();
    const int64_t k = std::count(inside.begin(), inside.begin() + n, true);
    if (k > 0 && k < n)
      tightest = std::max(tightest, transfer_time(unit_ * units_(k, n), BytesPerSecond(bandwidth),
                                                  fabric_.rate_parts()));
  }
  void add_all() {
    const uint32_t vertices = fabric_.vertices();
    for (uint32_t set = 1; set + 1 < uint32_t{1} << vertices; ++set) {
      std::vector<bool> inside(vertices);
      for (uint32_t v = 0; v < vertices; ++v)
        inside[v] = (set >> v & 1U) != 0;
      add(inside);
    }
  }
  void add_devices() {
    for (uint32_t d = 0; d < fabric_.devices(); ++d) {
      std::vector<bool> inside(fabric_.vertices());
      inside[d] = true;
      add(inside);
    }
  }
  void add_flows(std::span<const VertexId> ranks, FlowEnds ends) {
    for (const Division& cut : flow_cuts(fabric_, OpenLinks(fabric_), ranks, ends, ranks.size())) {
      std::vector<bool> inside(fabric_.vertices());
      for (size_t v = 0; v < inside.size(); ++v)
        inside[v] = cut.block[v] == 0;
      add(inside);
    }
  }

  Duration tightest;

 private:
  const Fabric& fabric_;
  Bytes unit_;
  bool enter_;
  Units units_;
};

std::vector<VertexId> devices_of(const Fabric& fabric) {
  std::vector<VertexId> devices;
  for (uint32_t d = 0; d < fabric.devices(); ++d)
    devices.emplace_back(d);
  return devices;
}

TEST_CASE("bounds: in lists of links, flows and devices find the tightest set of all") {
  Random random(36);
  for (uint64_t i = 0; i < tries(300); ++i) {
    CAPTURE(i);
    const Fabric fabric = any_list(random);
    const std::vector<VertexId> ranks = devices_of(fabric);
    const Bytes unit(random.between(1, 1000) * 1000);
    FabricBounds bounds(fabric);
    const auto check = [&](ExchangedData::Form form, bool enter, Sets::Units units, FlowEnds ends) {
      Sets all(fabric, unit, enter, units);
      all.add_all();
      Sets found(fabric, unit, enter, units);
      found.add_devices();
      found.add_flows(ranks, ends);
      CHECK(found.tightest == all.tightest);
      // All links out of sets that divide the fabric may be tighter than those of one set.
      CHECK(bounds.of({form, unit}, ranks)->cut >= all.tightest);
    };
    const auto others = [](int64_t k, int64_t n) { return n - k; };
    const auto one = [](int64_t /*k*/, int64_t /*n*/) { return int64_t{1}; };
    check(ExchangedData::Form::Gather, true, others, FlowEnds::FromAll);
    check(ExchangedData::Form::ScatteredReduction, false, others, FlowEnds::ToAll);
    check(ExchangedData::Form::Reduction, true, one, FlowEnds::Pairs);
  }
}

TEST_CASE("bounds: in trees with one way between devices, no set of vertices is tighter") {
  Random random(37);
  for (uint64_t i = 0; i < tries(300); ++i) {
    CAPTURE(i);
    std::vector<TreeLevel> levels;
    for (uint64_t more = 1 + random.below(3); more > 0; --more)
      levels.push_back({static_cast<uint32_t>(random.between(levels.empty() ? 1 : 2, 3)), 1, 1,
                        any_figures(random)});
    const auto tree = std::make_shared<const Tree>(levels);
    if (tree->devices() < 2 || tree->devices() + tree->switches() > 13)
      continue;
    const auto divided = [&](const Fabric& whole) {  // by faults
      std::vector<Link> links = whole.links();
      for (Link& link : links)
        link.bandwidth = link.bandwidth * random.between(1, 3);
      return whole.with_links(std::move(links), 3);
    };
    const Fabric fabric = random.below(2) == 0 ? Fabric(tree) : divided(Fabric(tree));
    const std::vector<VertexId> ranks = devices_of(fabric);
    const Bytes unit(random.between(1, 1000) * 1000);
    FabricBounds bounds(fabric);
    const auto check = [&](ExchangedData::Form form, bool enter, Sets::Units units) {
      Sets all(fabric, unit, enter, units);
      all.add_all();
      CHECK(bounds.of({form, unit}, ranks)->cut >= all.tightest);
    };
    const auto inside = [](int64_t k, int64_t /*n*/) { return k; };
    const auto others = [](int64_t k, int64_t n) { return n - k; };
    const auto pairs = [](int64_t k, int64_t n) { return k * (n - k); };
    const auto one = [](int64_t /*k*/, int64_t /*n*/) { return int64_t{1}; };
    check(ExchangedData::Form::Gather, true, others);
    check(ExchangedData::Form::Gather, false, inside);
    check(ExchangedData::Form::ScatteredReduction, false, others);
    check(ExchangedData::Form::AllToAll, true, pairs);
    check(ExchangedData::Form::AllToAll, false, pairs);
    check(ExchangedData::Form::Reduction, true, one);
  }
}

}  // namespace
}  // namespace orrery::test
