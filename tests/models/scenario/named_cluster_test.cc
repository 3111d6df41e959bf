// Tests clusters by name: slices of TPUs, and many nodes of an entry of the catalog.

#include <algorithm>
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/scenario/cluster_json.h"
#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "tests/models/scenario/same.h"
#include "tests/models/scenario/support.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

/// Returns a scenario on one device of a cluster.
std::string with_cluster(const std::string& cluster) {
  Small s;
  s.mesh = R"({"x": 1})";
  s.cluster = cluster;
  return s.text();
}

Scenario scenario(const std::string& text) {
  return read_scenario("f", text);
}

/// Returns a cluster of so many nodes of an entry.
Cluster nodes_of(const std::string& entry, int nodes, const std::string& more = "") {
  return scenario(
             with_cluster(fmt::format(R"({{"catalog": "{}", "nodes": {}{}}})", entry, nodes, more)))
      .cluster;
}

const NodesForm& form_of(const Cluster& cluster) {
  return dynamic_cast<const Nodes&>(cluster.fabric.topology()).form();
}

const std::vector<TreeLevel>& outside(const Cluster& cluster) {
  return dynamic_cast<const Tree&>(*form_of(cluster).outside).given_levels();
}

TEST_CASE("many nodes: what is absent is rails, the entry's NICs and no oversubscription") {
  const Cluster made = nodes_of("h100-sxm-8", 64);
  CHECK(made.name == "64 nodes of h100-sxm-8, rail");
  CHECK(made.fabric.devices() == 512);
  const NodesForm& form = form_of(made);
  CHECK(form.rails);
  CHECK(form.over_nodes);
  CHECK(form.nics == 8);
  const std::vector<TreeLevel> expected = {
      {32, 1, 1, {BytesPerSecond(50'000'000'000), Duration(1'350'000)}},
      {16, 8, 4, {BytesPerSecond(50'000'000'000), Duration(0)}}};
  CHECK(outside(made) == expected);
  const Cluster node = *catalog_cluster("h100-sxm-8");
  CHECK(made.device == node.device);
  // The protocols of the node, and what they have over the network, are told apart.
  REQUIRE(made.transport.has_value());
  for (const ProtocolFigures& own : node.transport->protocols) {
    CAPTURE(own.name);
    const auto found =
        std::find_if(made.transport->protocols.begin(), made.transport->protocols.end(),
                     [&](const ProtocolFigures& each) { return each.name == own.name; });
    REQUIRE(found != made.transport->protocols.end());
    CHECK(own.network == NetworkFigures());
    CHECK((found->network == NetworkFigures()) == (own.name == "nvls"));
    ProtocolFigures inside = *found;
    inside.network = {};
    CHECK(inside == own);
  }
  CHECK(made.transport->protocols.size() == node.transport->protocols.size() + 3);
  CHECK(made.transport->protocols.back().name == "nvls_tree");
  CHECK(node.transport->calibrated.at("psum").most_ranks == 8);
  CHECK(made.transport->calibrated.at("psum").most_ranks == 16);
  CHECK(form.inside->links() == node.fabric.count_links());
  // The switches inside reduce, as the entry's do.
  CHECK(made.fabric.reducing_switches().size() == 64);
}

TEST_CASE("many nodes: leaves and spines are those of a DGX SuperPOD") {
  // docs.nvidia.com/dgx-superpod, reference architecture of DGX B200: nodes, leaves, spines.
  for (const auto& [nodes, leaves, spines] :
       {std::tuple(64, 16U, 8U), std::tuple(128, 32U, 16U), std::tuple(256, 64U, 32U)}) {
    const TreeLevel up = outside(nodes_of("b200-sxm-8", nodes))[1];
    CHECK(up.below == leaves);
    CHECK(up.above == spines);
  }
}

/// Returns the bandwidth of all links between two levels in one direction, for each NIC.
int64_t rate_up(const Cluster& cluster) {
  const TreeLevel up = outside(cluster)[1];
  const int64_t links = int64_t{up.below} * up.above * up.parallel;
  return links * up.figures.bandwidth.count() / (form_of(cluster).nodes * form_of(cluster).nics);
}

TEST_CASE("many nodes: leaves' links up have 1/n of the bandwidth of their links down") {
  int made = 0;
  uint64_t seed = 0;
  for (const char* const fabric : {"rail", "fat_tree"})
    for (int nodes = 1; nodes <= 100; ++nodes)
      for (const int n : {1, 2, 3, 4, 5, 8}) {
        if (!test::is_tried_sanitized(++seed))
          continue;
        CAPTURE(fabric);
        CAPTURE(nodes);
        CAPTURE(n);
        const std::string text = with_cluster(fmt::format(
            R"({{"catalog": "h100-sxm-8", "nodes": {}, "fabric": "{}", "oversubscription": {}}})",
            nodes, fabric, n));
        if (n == 3 && nodes % 3 != 0) {  // three divides neither a leaf nor 50 GB/s
          CHECK(refusal(text) != "");
          continue;
        }
        const Cluster cluster = scenario(text).cluster;
        ++made;
        CHECK(rate_up(cluster) == 50'000'000'000 / n);
        CHECK(outside(cluster)[0].below <= 32);
        CHECK(outside(cluster)[0].below * outside(cluster)[1].below ==
              form_of(cluster).outside->devices());
      }
  if (!test::is_sanitized())
    CHECK(made == 2 * (500 + 33));
}

TEST_CASE("many nodes: the fabric, the NICs and the ways that are given") {
  const Cluster tree = nodes_of("a100-sxm-8", 8, R"(, "fabric": "fat_tree", "nic_GBps": 100,
"nic_latency": "2 us", "oversubscription": 4, "ways": "hashed", "seed": 3, "name": "mine")");
  CHECK(tree.name == "mine");
  CHECK_FALSE(form_of(tree).rails);
  const std::vector<TreeLevel> expected = {
      {32, 1, 1, {BytesPerSecond(100'000'000'000), Duration(2'000'000)}},
      {2, 1, 8, {BytesPerSecond(100'000'000'000), Duration(0)}}};
  CHECK(outside(tree) == expected);
  CHECK(tree.fabric.ways() == Ways{true, 3});
  const Cluster spread = nodes_of("h100-sxm-8", 64, R"(, "ways": "spread")");
  CHECK(dynamic_cast<const Tree&>(*form_of(spread).outside).is_spread());
}

TEST_CASE("many nodes: each figure of links has its source, and a given one has its own") {
  const auto label_of = [](const Cluster& cluster, const std::string& figure) -> std::string {
    for (const FigureSource& source : cluster.sources)
      if (source.figure == figure)
        return source.label;
    return "none";
  };
  const Cluster entry = nodes_of("h100-sxm-8", 4);
  CHECK(label_of(entry, "topology/inside/bandwidth") == "calibrated");
  CHECK(label_of(entry, "topology/outside/host/bandwidth") == "data sheet");
  CHECK(label_of(entry, "topology/outside/host/latency") == "library default");
  CHECK(label_of(entry, "transport/ll/latency") == "calibrated");
  CHECK(label_of(entry, "transport/ll/network/latency") == "calibrated");
  CHECK(label_of(entry, "transport/tree_ll/launch") == "calibrated");
  CHECK(label_of(entry, "topology/outside/up/bandwidth") == "data sheet");
  CHECK(label_of(entry, "topology/outside/up/latency") == "assumed");
  CHECK(label_of(entry, "flops/bf16") == "data sheet");
  const Cluster given = nodes_of("h100-sxm-8", 4, R"(, "nic_latency": "1 us", "nic":
{"value": "200 Gb/s", "label": "measured", "source": "ib_write_bw", "date": "2026-11-27"})");
  CHECK(label_of(given, "topology/outside/host/bandwidth") == "measured");
  CHECK(label_of(given, "topology/outside/up/bandwidth") == "measured");
  CHECK(label_of(given, "topology/outside/host/latency") == "none");
}

TEST_CASE("many nodes: a scenario is the same when it is written and read again") {
  for (const CatalogFile& entry : catalog()) {
    CAPTURE(entry.name);
    for (const char* const more :
         {"", R"(, "fabric": "fat_tree", "oversubscription": 4, "ways": "spread")"}) {
      const std::string nic =
          entry.name.starts_with("tpu") ? R"(, "nic": "100 Gb/s", "nic_latency": "2 us")" : "";
      const Scenario first = scenario(with_cluster(
          fmt::format(R"({{"catalog": "{}", "nodes": 2{}{}}})", entry.name, nic, more)));
      const Scenario again = scenario(write_scenario(first));
      CHECK(difference(first, again) == "");
    }
  }
  const Scenario slice = scenario(with_cluster(R"("tpu-v5p 2x4x4")"));
  CHECK(slice.catalog_cluster);
  CHECK(difference(slice, scenario(write_scenario(slice))) == "");
}

/// Returns whether each dimension of a slice wraps: "yes no".
std::string wraps(const std::string& name) {
  const Cluster slice = *catalog_cluster(name);
  std::string text;
  for (const TorusDimension& dimension :
       dynamic_cast<const Torus&>(slice.fabric.topology()).dimensions())
    text += fmt::format("{}{}", text.empty() ? "" : " ", dimension.wraps ? "yes" : "no");
  return text;
}

TEST_CASE("slices: an axis wraps where the machine has the links") {
  // Whole cubes wrap along all axes, and smaller slices along none: "Note that a 2x2x4 won't have
  // any wraparounds" (jax-ml/scaling-book tpus.md).
  CHECK(wraps("tpu-v5p 4x4x8") == "yes yes yes");
  CHECK(wraps("tpu-v4 4x4x4") == "yes yes yes");
  CHECK(wraps("tpu-v4 2x2x4") == "no no no");
  CHECK(wraps("tpu-v5p 2x2x1") == "no no no");
  // "A TPU v5e 8x16 will have a wraparound on the longer axis."
  CHECK(wraps("tpu-v5e 8x16") == "no yes");
  CHECK(wraps("tpu-v5e 4x8") == "no no");
  CHECK(wraps("tpu-v6e 16x16") == "yes yes");
}

TEST_CASE("slices: figures are those of the pod, and their number is that of the shape") {
  const Cluster slice = *catalog_cluster("tpu-v5p 4x4x8");
  const Cluster pod = *catalog_cluster("tpu-v5p");
  CHECK(slice.name == "tpu-v5p 4x4x8");
  CHECK(slice.fabric.devices() == 128);
  CHECK(pod.fabric.devices() == 8960);
  CHECK(slice.fabric.count_links() == 6 * 128);
  CHECK(slice.fabric.figures(LinkId(0)) == pod.fabric.figures(LinkId(0)));
  CHECK(slice.device == pod.device);
  CHECK(slice.sources == pod.sources);
}

TEST_CASE("many nodes and slices: messages") {
  const std::string cubes =
      ": expected a slice of 3 sizes, all multiples of 4 or none above it, of at most 8960 "
      "devices, got ";
  const Case cases[] = {
      {R"("tpu-v5p 4x4")", "f:2:12: /cluster" + cubes + "\"4x4\""},
      {R"("tpu-v5p 4x4x6")", "f:2:12: /cluster" + cubes + "\"4x4x6\""},
      {R"("tpu-v5p 4x4x564")", "f:2:12: /cluster" + cubes + "\"4x4x564\""},
      {R"("tpu-v5p 4x4x0")", "f:2:12: /cluster" + cubes + "\"4x4x0\""},
      {R"("tpu-v5p 4x4x")", "f:2:12: /cluster" + cubes + "\"4x4x\""},
      {R"("tpu-v5e 4x32")",
       "f:2:12: /cluster: expected a slice of 2 sizes from 1 to 16, got \"4x32\""},
      {R"("h100-sxm-8 4x4")",
       "f:2:12: /cluster: expected \"h100-sxm-8\" alone, since it has no slices, got \"4x4\" after "
       "it"},
      {R"({"catalog": 8, "nodes": 2})",
       "f:2:24: /cluster/catalog: expected the name of a cluster in the catalog, got 8"},
      {R"({"catalog": "tpu-v9", "nodes": 2})",
       "f:2:24: /cluster/catalog: expected a cluster of the catalog (one of \"a100-40gb-sxm-8\", "
       "\"a100-sxm-8\", \"b200-sxm-8\", \"gb200-nvl72\", \"gh200-4\", \"h100-sxm-8\", "
       "\"h200-sxm-8\", \"mi300x-8\", \"tpu-v4\", \"tpu-v5e\", \"tpu-v5p\", \"tpu-v6e\"), got "
       "\"tpu-v9\"; did you mean \"tpu-v4\"?"},
      {R"({"catalog": "h100-sxm-8"})", "f:2:12: /cluster: missing key \"nodes\""},
      {R"({"catalog": "h100-sxm-8", "nodes": 0})",
       "f:2:47: /cluster/nodes: expected a number of nodes of at least 1, got 0"},
      {R"({"catalog": "h100-sxm-8", "nodes": 1000000})",
       "f:2:47: /cluster/nodes: expected at most 1048576 devices, got 1000000 nodes of 8 devices "
       "(--limit devices=N allows more)"},
      {R"({"catalog": "mi300x-8", "nodes": 131072})",
       "f:2:12: /cluster: expected at most 4194304 links, got 11534336 (--limit links=N allows "
       "more)"},
      {R"({"catalog": "h100-sxm-8", "nodes": 2, "fabric": "rails"})",
       "f:2:60: /cluster/fabric: expected \"rail\" or \"fat_tree\", got \"rails\"; did you mean "
       "\"rail\"?"},
      {R"({"catalog": "tpu-v5e 4x4", "nodes": 2})",
       "f:2:12: /cluster: expected \"nic\", since the catalog has no such figure of tpu-v5e 4x4\n"
       "f:2:12: /cluster: expected \"nic_latency\", since the catalog has no such figure of "
       "tpu-v5e 4x4"},
      {R"({"catalog": "h100-sxm-8", "nodes": 2, "nic": 400})",
       "f:2:57: /cluster/nic: expected a rate such as \"50 GB/s\", got 400"},
      {R"({"catalog": "h100-sxm-8", "nodes": 2, "oversubscription": 0})",
       "f:2:70: /cluster/oversubscription: expected an oversubscription such as 2, for 2:1, from "
       "1 to 4294967295, got 0"},
      {R"({"catalog": "h100-sxm-8", "nodes": 64, "oversubscription": 3})",
       "f:2:71: /cluster/oversubscription: expected an oversubscription that divides the NICs of "
       "a leaf (up to 32), or their rate of 50 GB/s, got 3"},
      {R"({"catalog": "h100-sxm-8", "nodes": 64, "nic": "200 TB/s", "ways": "spread"})",
       "f:2:78: /cluster/ways: the links that \"spread\" takes as one have more than "
       "332733478963015 B/s"},
      {R"({"catalog": "h100-sxm-8", "nodes": 2, "devices": 16})",
       "f:2:50: /cluster/devices: unknown key \"devices\"; expected one of \"name\", \"catalog\", "
       "\"nodes\", \"fabric\", \"nic\", \"nic_latency\", \"oversubscription\", \"ways\", \"seed\""},
      {R"({"devices": 4, "links": [], "nic": 4})",
       "f:2:47: /cluster/nic: expected an object with \"bandwidth\", \"latency\" and "
       "\"transport\", got 4"},
      {R"({"devices": 4, "links": [], "nic": {"transport": {"protocols": {"p": {}}, "host_launch": {}}}})",
       "f:2:86: /cluster/nic/transport/host_launch: expected \"host_launch\" in the cluster's own "
       "transport"},
      {R"({"devices": 4, "links": [], "slices": "all"})",
       "f:2:50: /cluster/slices: expected \"cubes\" or \"whole_axes\", got \"all\""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.part);
    CHECK(refusal(with_cluster(c.part)) == c.error);
  }
}

}  // namespace
}  // namespace orrery::test
