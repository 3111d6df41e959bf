// Tests topologies by rule as a scenario states them: what is made, what is written back, and each
// message.

#include <doctest/doctest.h>

#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "tests/models/scenario/same.h"
#include "tests/models/scenario/support.h"

namespace orrery::test {
namespace {

/// Returns a scenario on one device of a topology, whose links have figures of their own.
std::string on(const std::string& topology, const std::string& more = "") {
  Small s;
  s.mesh = R"({"x": 1})";
  s.cluster =
      R"({"topology": )" + topology + R"(, "bandwidth": "50 GB/s", "latency": "1 us")" + more + "}";
  return s.text();
}

Scenario read(const std::string& text) {
  return read_scenario("f", text);
}

Fabric fabric(const std::string& topology) {
  return read(on(topology)).cluster.fabric;
}

std::vector<Route> routes(const Fabric& fabric) {
  std::vector<Route> all;
  for (uint32_t from = 0; from < fabric.devices(); ++from)
    for (uint32_t to = 0; to < fabric.devices(); ++to) {
      all.emplace_back();
      REQUIRE(
          fabric.topology().append_route(VertexId(from), VertexId(to), std::nullopt, all.back()));
    }
  return all;
}

TEST_CASE("topology: what each key makes") {
  CHECK(fabric(R"({"ring": 8})").links() ==
        ring_fabric(8, {BytesPerSecond(50'000'000'000), Duration(1'000'000)}).links());
  CHECK(fabric(R"({"line": 8})").count_links() == 14);
  CHECK(fabric(R"({"fully_connected": 8})").count_links() == 56);
  CHECK(fabric(R"({"switch": 8})").count_links() == 16);
  CHECK(fabric(R"({"torus": [4, 2, 8]})").devices() == 64);
  CHECK(fabric(R"({"mesh": [4, 4]})").count_links() == 2 * 2 * 12);
  const Fabric mixed =
      fabric(R"({"torus": [4, {"size": 4, "wrap": false, "bandwidth": "25 GB/s"}]})");
  CHECK(mixed.count_links() == 2 * 16 + 2 * 12);
  CHECK(mixed.link(LinkId(32)).bandwidth == BytesPerSecond(25'000'000'000));
  const Fabric tree = fabric(
      R"({"fat_tree": {"leaves": 4, "hosts": 8, "spines": 2, "up": {"links": 3, "latency": "2 us"}}})");
  CHECK(tree.devices() == 32);
  CHECK(tree.switches() == 6);
  CHECK(tree.count_links() == 2 * 32 + 2 * 4 * 2 * 3);
  CHECK(tree.link(LinkId(64)).latency == Duration(2'000'000));
  const Fabric pods =
      fabric(R"({"fat_tree": {"leaves": 2, "hosts": 2, "spines": 2, "pods": 3, "cores": 4}})");
  CHECK(pods.devices() == 12);
  CHECK(pods.switches() == 6 + 6 + 4);
  const Fabric nodes = fabric(
      R"({"nodes": 4, "inside": {"switch": 8, "bandwidth": "450 GB/s"}, "nics": 8,
"outside": {"rail": {"leaves_per_rail": 2, "spines": 4}}})");
  CHECK(nodes.devices() == 32);
  CHECK(nodes.switches() == 4 + 16 + 4);
  CHECK(nodes.link(LinkId(0)).bandwidth == BytesPerSecond(450'000'000'000));
  CHECK(nodes.link(LinkId(64)).bandwidth == BytesPerSecond(50'000'000'000));
  CHECK(nodes.vertex_text(VertexId(32 + 4 + 3)) == "switch \"rail 1 leaf 1\"");
  CHECK(fabric(R"({"switch": 8, "ways": "hashed", "seed": 7})").ways() == Ways{true, 7});
  CHECK(read(on(R"({"ring": 8})", R"(, "devices": 8)")).cluster.fabric.devices() == 8);
}

TEST_CASE("topology: a scenario is the same when it is written and read again") {
  for (
      const char* const topology :
      {R"({"ring": 8})", R"({"line": 8})", R"({"fully_connected": 3})",
       R"({"switch": 4, "ways": "hashed", "seed": 3})",
       R"({"ring": 4, "bandwidth": {"value": "1 GB/s", "label": "l", "source": "s", "date": "d"}})",
       R"({"torus": [4, {"size": 4, "wrap": false, "bandwidth": "25 GB/s"}]})",
       R"({"mesh": [4, 4, 2]})",
       R"({"fat_tree": {"leaves": 4, "hosts": 8, "spines": 2, "up": {"links": 3}}, "ways": "spread"})",
       R"({"fat_tree": {"leaves": 2, "hosts": 2, "spines": 2, "pods": 3, "cores": 4,
"core": {"latency": {"value": "5 us", "label": "l", "source": "s", "date": "d"}}}})",
       R"({"nodes": 4, "inside": {"switch": 8}, "nics": 8,
"outside": {"rail": {"leaves_per_rail": 2, "spines": 4, "pxn": false}}})",
       R"({"nodes": 4, "inside": {"torus": [2, 2]}, "nics": 2, "nic": {"bandwidth": "64 GB/s"},
"outside": {"rail": {"spines": 4, "rails_meet": "nodes"}, "latency": "3 us"}})",
       R"({"nodes": 2, "inside": {"ring": 4}, "nics": 4, "outside": {"switch": 8}})"}) {
    CAPTURE(topology);
    const Scenario first = read(on(topology));
    const Scenario again = read(write_scenario(first));
    CHECK(difference(first, again) == "");
    CHECK(routes(first.cluster.fabric) == routes(again.cluster.fabric));
  }
  // Sources of the cluster's figures go to the levels that take them.
  const Scenario sourced = read(
      R"({"orrery": 1, "name": "s", "mesh": {"x": 1}, "cluster": {"topology": {"torus": [2, 2]},
"latency": "1 us", "bandwidth": {"value": "1 GB/s", "label": "l", "source": "s", "date": "d"}},
"arrays": {}, "program": []})");
  REQUIRE(sourced.cluster.sources.size() == 2);  // the cluster's own is gone
  CHECK(sourced.cluster.sources[0].figure == "topology/0/bandwidth");
  CHECK(difference(sourced, read(write_scenario(sourced))) == "");
}

TEST_CASE("topology: the switches in nodes reduce") {
  const std::string nodes =
      R"({"nodes": 4, "inside": {"switch": 8}, "nics": 8, "outside": {"switch": 32}})";
  const Scenario first = read(on(nodes, R"(, "in_switch_reduction": "inside")"));
  REQUIRE(first.cluster.fabric.reducing_switches().size() == 4);
  CHECK(first.cluster.fabric.reducing_switches()[0] == VertexId(32));
  CHECK(difference(first, read(write_scenario(first))) == "");
  CHECK(refusal(on(R"({"switch": 8})", R"(, "in_switch_reduction": "inside")")) ==
        "f:2:106: /cluster/in_switch_reduction: \"inside\" belongs to the topology \"nodes\" with "
        "switches in its nodes");
}

TEST_CASE("topology: messages") {
  const std::string at = "f:2:25: /cluster/topology";
  const Case cases[] = {
      {R"({"rings": 8})",
       at + ": expected one of \"links\", \"ring\", \"line\", \"torus\", \"mesh\", "
            "\"fully_connected\", "
            "\"switch\", \"fat_tree\", \"nodes\" as key, got none\n"
            "f:2:26: /cluster/topology/rings: unknown key \"rings\"; did you mean \"ring\"?"},
      {R"({"ring": 8, "line": 8})",
       at + ": expected one of \"links\", \"ring\", \"line\", \"torus\", \"mesh\", "
            "\"fully_connected\", "
            "\"switch\", \"fat_tree\", \"nodes\" as key, got \"ring\", \"line\""},
      {R"({"torus": []})",
       "f:2:35: /cluster/topology/torus: expected at least one dimension, got none"},
      {R"({"torus": 8})",
       "f:2:35: /cluster/topology/torus: expected a list with the size of each dimension, got 8"},
      {R"({"torus": ["a"]})",
       "f:2:36: /cluster/topology/torus/0: expected an object with \"size\", or a number of "
       "devices of at least 1, got \"a\""},
      {R"({"torus": [4096, 4096]})",
       "f:2:35: /cluster/topology/torus: expected at most 1048576 devices, got 16777216 (--limit "
       "devices=N allows more)"},
      {R"({"fat_tree": {"leaves": 2, "hosts": 2, "spines": 2, "pods": 2, "cores": 3}})",
       "f:2:97: /cluster/topology/fat_tree/cores: expected a multiple of the 2 spines of a pod, "
       "got 3"},
      {R"({"fat_tree": 8})",
       "f:2:38: /cluster/topology/fat_tree: expected an object with \"leaves\", \"hosts\" and "
       "\"spines\", got 8"},
      {R"({"fat_tree": {"leaves": 2, "hosts": 2, "spines": 5000000}})",
       "f:2:74: /cluster/topology/fat_tree/spines: expected at most 4194304 links, got 5000000 "
       "(--limit links=N allows more)"},
      {R"({"ring": 8, "ways": "spread"})",
       "f:2:45: /cluster/topology/ways: \"spread\" belongs to a topology with equal ways: a fat "
       "tree or rails"},
      {R"({"ring": 8, "ways": "hash"})",
       "f:2:45: /cluster/topology/ways: expected \"static\", \"hashed\" or \"spread\", got "
       "\"hash\""},
      {R"({"ring": 8, "seed": 1})",
       "f:2:37: /cluster/topology/seed: \"seed\" belongs to the ways \"hashed\""},
      {R"({"fat_tree": {"leaves": 2, "hosts": 2, "spines": 100000}, "ways": "spread"})",
       "f:2:38: /cluster/topology/fat_tree: the links that \"spread\" takes as one have more than "
       "332733478963015 B/s"},
      {R"({"nodes": 3, "inside": {"switch": 8}, "nics": 3, "outside": {"switch": 9}})",
       "f:2:71: /cluster/topology/nics: expected NICs that the 8 devices of a node share evenly, "
       "got 3"},
      {R"({"nodes": 3, "inside": {"switch": 8}, "nics": 8, "outside": {"switch": 9}})",
       "f:2:85: /cluster/topology/outside: expected a topology of 24 NICs (3 nodes times 8), got "
       "one of 9"},
      {R"({"nodes": 2, "inside": {"switch": 8}, "nics": 4, "outside": {"switch": 8}})",
       at + ": missing key \"nic\""},
      {R"({"nodes": 3, "inside": {"switch": 8}, "nics": 8, "nic": {}, "outside": {"switch": 24}})",
       "f:2:74: /cluster/topology/nic: \"nic\" belongs to nodes whose devices share NICs"},
      {R"({"nodes": 3, "inside": {"switch": 8}, "nics": 8, "outside": {"rail": {"leaves_per_rail": 2}}})",
       "f:2:94: /cluster/topology/outside/rail: expected \"spines\", which join the 2 leaves of a "
       "rail\n"
       "f:2:114: /cluster/topology/outside/rail/leaves_per_rail: expected leaves that the 3 nodes "
       "share evenly, got 2"},
      {R"({"nodes": 2, "inside": {"switch": 8}, "nics": 8, "outside": {"rail": {"rails_meet": "spines"}}})",
       "f:2:109: /cluster/topology/outside/rail/rails_meet: expected \"nodes\" without \"spines\", "
       "got \"spines\""},
      {R"({"nodes": 2, "inside": {"switch": 8}, "nics": 8, "outside": {"rail": {"pxn": false}}})",
       "f:2:102: /cluster/topology/outside/rail/pxn: expected true, since rails meet in "
       "the nodes alone, got false"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.part);
    CHECK(refusal(on(c.part)) == c.error);
  }
  CHECK(refusal(on(R"({"ring": 8})", R"(, "devices": 4)")) ==
        "f:2:92: /cluster/devices: expected 8, the devices of the topology, got 4; \"devices\" may "
        "be absent");
  Small bare;
  bare.mesh = R"({"x": 1})";
  bare.cluster = R"({"topology": {"ring": 8}, "latency": "1 us"})";
  CHECK(refusal(bare.text()) ==
        "f:2:34: /cluster/topology/ring: expected \"bandwidth\" of these links, here or in the "
        "cluster");
}

}  // namespace
}  // namespace orrery::test
