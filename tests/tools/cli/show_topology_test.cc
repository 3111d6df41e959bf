// Tests `orrery show topology`: its figures against the routes and links themselves, and the list
// of links as a cluster.

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/base/diagnostics.h"
#include "models/scenario/cluster_json.h"
#include "simulator/network/paths.h"
#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"
#include "tools/cli/inputs.h"

namespace orrery::test {
namespace {

/// Returns the second column of the line that begins with the word; "" if there is none.
std::string fact(const std::string& text, const std::string& word) {
  const size_t line = text.find("\n" + word + "  ");
  if (line == std::string::npos)
    return "";
  const size_t begin = text.find_first_not_of(' ', line + 1 + word.size());
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::string shown(const std::string& cluster) {
  const Ran run = ran({"show", "topology", cluster});
  CAPTURE(run.err);
  REQUIRE(run.outcome == Outcome::Holds);
  return run.out;
}

/// Returns the cluster with a list of links, as a text.
std::string listed(const std::string& cluster) {
  const Ran run = ran({"show", "topology", cluster, "--format", "json"});
  CAPTURE(run.err);
  REQUIRE(run.outcome == Outcome::Holds);
  return run.out;
}

/// Returns an object whose topology is this; its links have 50 GB/s and 1 us.
std::string of(const std::string& topology) {
  return R"({"topology": )" + topology + R"(, "bandwidth": "50 GB/s", "latency": "1 us"})";
}

Cluster cluster_of(const std::string& cluster) {
  return cluster_given("CLUSTER", cluster, {});
}

TEST_CASE("show topology: many nodes of a catalog entry, whole") {
  CHECK(shown(R"({"catalog": "b200-sxm-8", "nodes": 64, "oversubscription": 2})") ==
        R"(64 nodes of b200-sxm-8, rail 2:1

topology          nodes
devices           512, 64 nodes of 8
switches          84
links             2,560, each in one direction
diameter          6 links
bisection         6.4 TB/s each way, between halves of the nodes
oversubscription  2:1 at the leaves
equal ways        static
reducing          64 of the switches

level         between                 links  bandwidth  latency
inside        devices and the switch  1,024   900 GB/s   300 ns
  bandwidth: data sheet (NVLink 5, 18 links of 50 GB/s each way: stas00/ml-engineering network/README.md at 744d01e, 2026-08-22)
  latency: library default (NCCL 2.30.7 (5067397c) src/graph/tuning.cc: 0.6 µs for a step of ll over NVLink, which crosses two links, 2026-11-26)
outside/host  devices and leaves      1,024    50 GB/s  1.35 µs
  bandwidth: data sheet (a NIC of 400 Gb/s for each device, as in AWS P6-B200: stas00/ml-engineering network/README.md at 744d01e, 2026-08-22)
  latency: library default (NCCL 2.30.7 (5067397c) src/graph/tuning.cc: 2.7 µs for a step of ll over a network, half at each end, 2026-11-26)
outside/up    leaves and spines         512    50 GB/s      0 s
  bandwidth: data sheet (a NIC of 400 Gb/s for each device, as in AWS P6-B200: stas00/ml-engineering network/README.md at 744d01e, 2026-08-22)
  latency: assumed (0 between switches, since that of the NICs stands for the whole way, 2026-11-27)
)");
}

const std::vector<std::string>& clusters() {
  static const std::vector<std::string> kClusters = {
      of(R"({"ring": 1})"),
      of(R"({"ring": 2})"),
      of(R"({"ring": 8})"),
      of(R"({"line": 6})"),
      of(R"({"torus": [4, 4, 2]})"),
      of(R"({"torus": [4, {"size": 4, "wrap": false, "bandwidth": "25 GB/s"}]})"),
      of(R"({"mesh": [4, 2]})"),
      of(R"({"fully_connected": 6})"),
      of(R"({"switch": 12})"),
      of(R"({"fat_tree": {"leaves": 4, "hosts": 4, "spines": 4}})"),
      of(R"({"fat_tree": {"leaves": 4, "hosts": 4, "spines": 1, "up": {"links": 2}}})"),
      of(R"({"fat_tree": {"leaves": 2, "hosts": 2, "spines": 2, "pods": 4, "cores": 4}})"),
      of(R"({"fat_tree": {"leaves": 4, "hosts": 8, "spines": 4}, "ways": "spread"})"),
      of(R"({"nodes": 4, "inside": {"switch": 4, "bandwidth": "450 GB/s"}, "nics": 4,
             "outside": {"rail": {"leaves_per_rail": 2, "spines": 2}}})"),
      of(R"({"nodes": 4, "inside": {"switch": 4, "bandwidth": "450 GB/s"}, "nics": 4,
             "outside": {"rail": {}}})"),
      of(R"({"nodes": 4, "inside": {"fully_connected": 4, "bandwidth": "450 GB/s"}, "nics": 2,
             "nic": {"bandwidth": "10 GB/s"}, "outside": {"switch": 8}})"),
      R"({"catalog": "gh200-4", "nodes": 4, "fabric": "fat_tree"})",
      "mi300x-8",
      "tpu-v5e 4x4"};
  return kClusters;
}

/// Returns the most links of a route between two devices.
uint32_t longest(const Fabric& fabric) {
  Paths paths(fabric);
  size_t most = 0;
  for (uint32_t from = 0; from < fabric.devices(); ++from)
    for (uint32_t to = 0; to < fabric.devices(); ++to)
      most = std::max(most, paths.between(VertexId(from), VertexId(to), 0).links.size());
  return static_cast<uint32_t>(most);
}

TEST_CASE("show topology: the diameter is the longest route, and levels have all links") {
  for (const std::string& cluster : clusters()) {
    CAPTURE(cluster);
    const Fabric fabric = cluster_of(cluster).fabric;
    const std::string text = shown(cluster);
    const uint32_t most = longest(fabric);
    CHECK(fact(text, "diameter") == fmt::format("{} link{}", most, most == 1 ? "" : "s"));
    CHECK(fact(text, "links") == fmt::format("{}, each in one direction", fabric.count_links()));
    CHECK(fact(text, "switches") == fmt::format("{}", fabric.switches()));
  }
}

TEST_CASE("show topology: the bisection is what the list of the links carries between halves") {
  for (const std::string& cluster : clusters()) {
    CAPTURE(cluster);
    const std::string by_rule = fact(shown(cluster), "bisection");
    const std::string by_list = fact(shown(listed(cluster)), "bisection");
    if (by_rule.find("across axis 1") != std::string::npos)
      continue;  // the halves of a list are those across the first axis
    CHECK(by_rule.substr(0, by_rule.find(',')) == by_list.substr(0, by_list.find(',')));
  }
}

TEST_CASE("show topology: oversubscription at each level") {
  const auto of_tree = [](const std::string& tree) {
    return fact(shown(of(R"({"fat_tree": )" + tree + "}")), "oversubscription");
  };
  CHECK(of_tree(R"({"leaves": 4, "hosts": 8, "spines": 2})") == "4:1 at the leaves");
  CHECK(of_tree(R"({"leaves": 4, "hosts": 2, "spines": 4})") == "1:2 at the leaves");
  CHECK(of_tree(R"({"leaves": 4, "hosts": 4, "spines": 2, "up": {"bandwidth": "75 GB/s"}})") ==
        "4:3 at the leaves");
  CHECK(of_tree(R"({"leaves": 2, "hosts": 2, "spines": 2, "pods": 4, "cores": 2})") ==
        "1:1 at the leaves, 2:1 at the spines");
}

TEST_CASE("show topology: a list of links has all that the cluster has") {
  for (const std::string& cluster : clusters()) {
    CAPTURE(cluster);
    const Cluster expected = cluster_of(cluster);
    const Cluster made = cluster_of(listed(cluster));
    CHECK(made.name == expected.name);
    CHECK(made.device == expected.device);
    CHECK(made.transport == expected.transport);
    CHECK(made.fabric.links() == expected.fabric.links());
    CHECK(made.fabric.switch_names() == expected.fabric.switch_names());
    CHECK(std::equal(made.fabric.reducing_switches().begin(), made.fabric.reducing_switches().end(),
                     expected.fabric.reducing_switches().begin(),
                     expected.fabric.reducing_switches().end()));
  }
}

/// Returns the picoseconds of a program on the cluster.
int64_t makespan(const std::string& cluster, const std::string& rest) {
  const TemporaryFolder folder;
  const std::string file = folder.file(
      "s.json", R"({"orrery": 1, "cluster": )" +
                    (cluster.front() == '{' ? cluster : "\"" + cluster + "\"") + ", " + rest + "}");
  const Ran run = ran({"run", file, "--format", "json", "--data", "off"});
  CAPTURE(run.err);
  REQUIRE(run.outcome == Outcome::Holds);
  return nlohmann::json::parse(run.out).at("time").at("makespan_ps").get<int64_t>();
}

TEST_CASE("show topology: where only numbers decide, a list has the same routes and times") {
  for (const std::string& cluster :
       {std::string("h100-sxm-8"), of(R"({"line": 8})"), of(R"({"fully_connected": 8})"),
        of(R"({"fat_tree": {"leaves": 4, "hosts": 4, "spines": 3, "up": {"links": 2}}})")}) {
    CAPTURE(cluster);
    const Fabric rule = cluster_of(cluster).fabric;
    const Fabric list = cluster_of(listed(cluster)).fabric;
    Paths of_rule(rule);
    Paths of_list(list);
    for (uint32_t from = 0; from < rule.devices(); ++from)
      for (uint32_t to = 0; to < rule.devices(); ++to)
        CHECK(of_rule.between(VertexId(from), VertexId(to), 0).links ==
              of_list.between(VertexId(from), VertexId(to), 0).links);
    const char* const exchange = R"("mesh": {"x": 8},
"arrays": {"a": {"shape": [8, 4096], "dtype": "f32", "spec": ["x"]}},
"program": [{"id": "s", "op": "all_to_all", "of": "a", "axis_name": "x", "split_axis": 1,
             "concat_axis": 1, "tiled": true}])";
    CHECK(makespan(cluster, exchange) == makespan(listed(cluster), exchange));
  }
}

/// Each device of 64 nodes of 8 sends 5 MB to the one with its number, 32 nodes further on. That
/// node is under other leaves. Returns the time.
int64_t to_other_leaves(const std::string& more) {
  std::string permutation;
  for (int node = 0; node < 64; ++node)
    permutation += fmt::format("{}[{}, {}]", node == 0 ? "" : ", ", node, (node + 32) % 64);
  return makespan(R"({"catalog": "a100-40gb-sxm-8", "nic": "400 Gb/s", "nodes": 64)" + more + "}",
                  R"("mesh": {"d": 64, "t": 8},
"arrays": {"a": {"shape": [64, 5000000], "dtype": "s8", "spec": ["d", null]}},
"program": [{"id": "s", "op": "ppermute", "of": "a", "axis_name": "d", "perm": [)" +
                      permutation + "]}]");
}

TEST_CASE("many nodes: oversubscribed links up take as much longer") {
  constexpr int64_t kBytes = 5'000'000;
  constexpr int64_t kLatency = 2 * 1'350'000;  // to the first leaf, and from the last
  for (const char* const fabric : {"", R"(, "fabric": "fat_tree")", R"(, "ways": "spread")"}) {
    CAPTURE(fabric);
    CHECK(to_other_leaves(fabric) == kBytes * 20 + kLatency);  // 50 GB/s are 20 ps a byte
    CHECK(to_other_leaves(fabric + std::string(R"(, "oversubscription": 2)")) ==
          kBytes * 40 + kLatency);
    CHECK(to_other_leaves(fabric + std::string(R"(, "oversubscription": 8)")) ==
          kBytes * 160 + kLatency);
  }
}

TEST_CASE("many nodes: a message to another rail goes inside its node to the GPU that has it") {
  const auto message = [](const std::string& fabric, int to) {
    return makespan(R"({"catalog": "a100-40gb-sxm-8", "nic": "400 Gb/s", "nodes": 2, "fabric": ")" +
                        fabric + "\"}",
                    R"("mesh": {"x": 16},
"arrays": {"a": {"shape": [16, 5000000], "dtype": "s8", "spec": ["x", null]}},
"program": [{"id": "s", "op": "ppermute", "of": "a", "axis_name": "x", "perm": [[0, )" +
                        std::to_string(to) + "]]}]");
  };
  constexpr int64_t kOverNics = 5'000'000 * 20 + 2 * 1'350'000;
  CHECK(message("rail", 8) == kOverNics);
  CHECK(message("rail", 9) == kOverNics + 2 * 300'000);  // over the node's switch first
  CHECK(message("fat_tree", 9) == kOverNics);
}

TEST_CASE("show topology: a scenario, and its cluster's errors") {
  CHECK(shown(in_tree("scenarios/quickstart.json")) == shown("h100-sxm-8"));
  const Ran wrong = ran({"show", "topology", "h100"});
  CHECK(wrong.outcome == Outcome::WrongInput);
  CHECK(wrong.err ==
        "CLUSTER: the catalog has no \"h100\"; `orrery show catalog` lists what it has\n");
  const Ran object = ran({"show", "topology", R"({"catalog": "h100-sxm-8"})"});
  CHECK(object.err == "CLUSTER:1:1: missing key \"nodes\"\n");
  CHECK(shown("\"h100-sxm-8\"") == shown("h100-sxm-8"));  // as a scenario has it
}

TEST_CASE("show topology: what would take long is not looked for") {
  // Slices of more devices than have all their routes tried.
  CHECK(fact(shown(R"({"catalog": "tpu-v4 8x8x16", "nodes": 2, "nic": "25 Gb/s",
                       "nic_latency": "10 us"})"),
             "diameter") == "not looked for: there are too many routes");
  const std::string list = listed(R"({"catalog": "h100-sxm-8", "nodes": 128})");
  CHECK(fact(shown(list), "bisection") == "not looked for: there are too many links");
}

}  // namespace
}  // namespace orrery::test
