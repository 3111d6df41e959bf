#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/random.h"
#include "tools/bench/bench.h"

namespace orrery {
namespace {

constexpr int64_t kElements = int64_t{16} << 20;  // f32: 64 MiB

std::string simple_cluster(int64_t devices, std::string_view topology, int64_t latency_ns) {
  return fmt::format(R"({{"devices": {}, "topology": "{}", "bandwidth": "50 GB/s", )"
                     R"("latency_ns": {}, "memory": "800 GiB", "launch": "0 us"}})",
                     devices, topology, latency_ns);
}

/// Makes leaves of 8 hosts below one switch. Each link goes both ways.
std::string tree_cluster(int64_t hosts) {
  const auto link = [](const std::string& a, const std::string& b, int64_t gigabytes) {
    return fmt::format(R"({{"from": {0}, "to": {1}, "bandwidth": "{2} GB/s"}}, )"
                       R"({{"from": {1}, "to": {0}, "bandwidth": "{2} GB/s"}})",
                       a, b, gigabytes);
  };
  const auto leaf = [](int64_t i) { return fmt::format(R"("leaf{}")", i); };
  const std::string below =
      listed(hosts, [&](int64_t h) { return link(std::to_string(h), leaf(h / 8), 50); });
  const std::string above =
      listed(hosts / 8, [&](int64_t i) { return link(leaf(i), R"("spine")", 200); });
  return fmt::format(R"({{"devices": {}, "topology": "links", "latency_ns": 250, )"
                     R"("links": [{}, {}], "memory": "800 GiB", "launch": "0 us"}})",
                     hosts, below, above);
}

/// Returns an array as JSON. `shape` is one size, or two with a comma.
std::string array(std::string_view shape, bool matrix) {
  return fmt::format(R"({{"shape": [{}], "spec": [{}], "dtype": "f32", "init": "zeros"}})", shape,
                     matrix ? "null, null" : "null");
}

/// Returns a scenario as JSON. `arrays` and `ops` are the members of their object and list, as
/// text.
std::string scenario(const std::string& cluster, int64_t devices, std::string_view arrays,
                     std::string_view ops, std::string_view output) {
  return fmt::format(R"({{"orrery": 1, "cluster": {}, "mesh": {{"x": {}}}, "check_types": false,
 "arrays": {{{}}},
 "program": [{}],
 "outputs": ["{}"]}}
)",
                     cluster, devices, arrays, ops, output);
}

/// Returns a permutation. Sattolo's shuffle gives one cycle through all hosts, so that none sends
/// to itself.
std::vector<int64_t> random_cycle(Random& random, int64_t hosts) {
  std::vector<int64_t> to;
  for (int64_t i = 0; i < hosts; ++i)
    to.push_back(i);
  for (size_t i = to.size() - 1; i > 0; --i)
    std::swap(to[i], to[static_cast<size_t>(random.between(0, static_cast<int64_t>(i) - 1))]);
  return to;
}

}  // namespace

std::string ring_all_reduce(int64_t ranks) {
  return scenario(simple_cluster(ranks, "ring", 500), ranks,
                  R"("a": )" + array(std::to_string(kElements), false),
                  R"({"id": "r", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "ring"})",
                  "r");
}

std::string all_to_all(AllToAll how, int64_t ranks) {
  const bool pairwise = how == AllToAll::PairwiseOnSwitch || how == AllToAll::PairwiseOnTree;
  const std::string cluster = how == AllToAll::PairwiseOnTree ? tree_cluster(ranks)
                              : how == AllToAll::DirectOnRing
                                  ? simple_cluster(ranks, "ring", 500)
                                  : simple_cluster(ranks, "switch", 250);
  const std::string shape = fmt::format("{}, {}", ranks, kElements / ranks);
  const std::string op = fmt::format(
      R"({{"id": "r", "op": "all_to_all", "of": "a", "axis_name": "x", "split_axis": 0, )"
      R"("concat_axis": 0, "tiled": true, "algorithm": "{}"{}}})",
      pairwise ? "pairwise" : "direct",
      how == AllToAll::PairwiseOnTree ? R"(, "entry": "rendezvous")" : "");
  return scenario(cluster, ranks, R"("a": )" + array(shape, true), op, "r");
}

std::string random_permutations(int64_t rounds) {
  constexpr int64_t kHosts = 64;
  constexpr int64_t kSizes = 16;
  Random random(7);
  const std::string arrays = listed(kSizes, [&](int64_t i) {
    const int64_t elements = random.between(int64_t{1} << 16, int64_t{1} << 20);
    return fmt::format(R"("a{}": {})", i, array(std::to_string(elements), false));
  });
  const std::string ops = listed(rounds, [&](int64_t k) {
    const std::vector<int64_t> to = random_cycle(random, kHosts);
    return fmt::format(
        R"({{"id": "p{}", "op": "ppermute", "of": "a{}", "axis_name": "x", "perm": [{}]}})", k,
        random.between(0, kSizes - 1), listed(kHosts, [&](int64_t host) {
          return fmt::format("[{}, {}]", host, to[static_cast<size_t>(host)]);
        }));
  });
  return scenario(tree_cluster(kHosts), kHosts, arrays, ops, fmt::format("p{}", rounds - 1));
}

std::string scatter_and_gather(const SmallCase& drawn) {
  return fmt::format(
      R"({{"orrery": 1, "name": "scatter and gather", "mesh": {{"x": 8}}, "check_types": false,
 "cluster": {{"devices": 8, "topology": "switch", "bandwidth": "50 GB/s", "latency": "500 ns",
   "memory": "80 GiB", "memory_bandwidth": "3 TB/s", "launch": "1 us", "reduce_rate": "1 TB/s",
   "copy_rate": "1 TB/s"}},
 "arrays": {{"a": {{"shape": [{}, 3], "dtype": "{}", "spec": ["x"],
   "init": {{"random": {}, "values": "integers"}}}}}},
 "program": [
   {{"id": "part", "op": "psum_scatter", "of": "a", "axis_name": "x", "tiled": true, "algorithm": "ring"}},
   {{"id": "whole", "op": "all_gather", "of": "part", "axis_name": "x", "tiled": true, "algorithm": "ring"}},
   {{"id": "sum", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "ring"}}],
 "expect": [{{"close": ["whole", "sum"]}}, {{"holds": ["deadlock_free", "race_free", "proved"]}}]}}
)",
      8 * 8 * drawn.rows, drawn.dtype, drawn.seed);
}

std::string many_psums(int64_t count) {
  const std::string ops = listed(count, [](int64_t i) {
    return fmt::format(R"({{"id": "p{}", "op": "psum", "of": "a", "axis_name": "x", )"
                       R"("algorithm": "recursive_doubling"}})",
                       i);
  });
  return scenario(simple_cluster(8, "ring", 500), 8, R"("a": )" + array("64", false), ops,
                  fmt::format("p{}", count - 1));
}

}  // namespace orrery
