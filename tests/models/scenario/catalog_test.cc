// Compares the catalog with the data sheets and the measurements that it was fitted to.

#include <algorithm>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "models/scenario/cluster_json.h"

namespace orrery {
namespace {

constexpr int64_t kTera = 1'000'000'000'000;

TEST_CASE("catalog: every entry is a cluster of so many devices and links") {
  struct Row {
    std::string name;
    uint32_t devices;
    uint32_t links;
  };
  const std::vector<Row> rows = {
      {"a100-40gb-sxm-8", 8, 16}, {"a100-sxm-8", 8, 16},       {"b200-sxm-8", 8, 16},
      {"gb200-nvl72", 72, 144},   {"gh200-4", 4, 12},          {"h100-sxm-8", 8, 16},
      {"h200-sxm-8", 8, 16},      {"mi300x-8", 8, 56},         {"tpu-v4", 4096, 6 * 4096},
      {"tpu-v5e", 256, 4 * 256},  {"tpu-v5p", 8960, 6 * 8960}, {"tpu-v6e", 256, 4 * 256}};
  REQUIRE(catalog().size() == rows.size());
  for (size_t e = 0; e < rows.size(); ++e) {
    CAPTURE(rows[e].name);
    REQUIRE(catalog()[e].name == rows[e].name);
    const std::optional<Cluster> cluster = catalog_cluster(rows[e].name);
    REQUIRE(cluster.has_value());
    CHECK(cluster->name == rows[e].name);
    CHECK(cluster->fabric.devices() == rows[e].devices);
    CHECK(cluster->fabric.count_links() == rows[e].links);
  }
  CHECK_FALSE(catalog_cluster("h100").has_value());
}

TEST_CASE("catalog: every figure has a label, a source and a date") {
  for (const CatalogFile& entry : catalog()) {
    CAPTURE(entry.name);
    const Cluster cluster = *catalog_cluster(entry.name);
    const auto has_source = [&](const std::string& figure) {
      return std::any_of(cluster.sources.begin(), cluster.sources.end(),
                         [&](const FigureSource& source) { return source.figure == figure; });
    };
    const bool is_torus = dynamic_cast<const Torus*>(&cluster.fabric.topology()) != nullptr;
    const std::string of_links = is_torus ? "topology/0/" : "";
    for (const std::string& figure : {of_links + "bandwidth", of_links + "latency",
                                      std::string("memory"), std::string("memory_bandwidth")})
      CHECK_MESSAGE(has_source(figure), figure);
    CHECK_FALSE(cluster.device.flops.empty());
    for (const auto& [dtype, rate] : cluster.device.flops)
      CHECK(has_source("flops/" + std::string(name(dtype))));
    if (cluster.transport)
      for (const ProtocolFigures& protocol : cluster.transport->protocols) {
        CHECK_MESSAGE(has_source("transport/" + protocol.name + "/launch"), protocol.name);
        CHECK_MESSAGE(has_source("transport/" + protocol.name + "/latency"), protocol.name);
        CHECK_MESSAGE(has_source("transport/" + protocol.name + "/channel_rate"), protocol.name);
      }
    for (const FigureSource& source : cluster.sources) {
      CHECK(source.label != "");
      CHECK(source.source != "");
      CHECK(source.date.size() == 10);
    }
    CHECK_FALSE(cluster.device.reduce_rate.has_value());
    CHECK_FALSE(cluster.device.copy_rate.has_value());
  }
}

TEST_CASE("catalog: payload gets no more of the links than their data sheets state") {
  CHECK(catalog_cluster("a100-sxm-8")->fabric.links()[0].bandwidth <=
        BytesPerSecond(300'000'000'000));
  CHECK(catalog_cluster("h100-sxm-8")->fabric.links()[0].bandwidth <=
        BytesPerSecond(450'000'000'000));
}

TEST_CASE("catalog: protocols that serve every collective, and what they were fitted to") {
  for (const char* const name : {"a100-sxm-8", "h100-sxm-8"}) {
    const Cluster cluster = *catalog_cluster(name);
    std::set<std::string> algorithms;
    for (const ProtocolFigures& protocol : cluster.transport->protocols)
      algorithms.insert(protocol.algorithms.begin(), protocol.algorithms.end());
    for (const char* const algorithm : {"ring", "direct", "pairwise"})
      CHECK(algorithms.count(algorithm) == 1);
    CHECK(cluster.transport->calibrated.count("psum") == 1);
  }
}

TEST_CASE("catalog: H100 SXM has the figures of its data sheet") {
  const Cluster h100 = *catalog_cluster("h100-sxm-8");
  CHECK(h100.device.memory == Bytes(81559LL << 20));
  CHECK(h100.device.memory_bandwidth == BytesPerSecond(3'350'000'000'000));
  CHECK(h100.device.flops.at(Dtype::BF16) == FlopsPerSecond(989 * kTera));
  CHECK(h100.device.flops.at(Dtype::F16) == FlopsPerSecond(989 * kTera));
  CHECK(h100.device.flops.at(Dtype::S8) == FlopsPerSecond(1979 * kTera));
  CHECK(h100.device.flops.at(Dtype::F32) == FlopsPerSecond(67 * kTera));
  CHECK(h100.device.flops.at(Dtype::F64) == FlopsPerSecond(34 * kTera));
}

TEST_CASE("catalog: A100 SXM has the figures of its data sheet") {
  const Cluster a100 = *catalog_cluster("a100-sxm-8");
  CHECK(a100.device.memory == Bytes(80LL << 30));
  CHECK(a100.device.memory_bandwidth == BytesPerSecond(2 * kTera));
  CHECK(a100.device.flops.at(Dtype::BF16) == FlopsPerSecond(312 * kTera));
  CHECK(a100.device.flops.at(Dtype::F32) == FlopsPerSecond(19'500'000'000'000));
  CHECK(a100.device.flops.at(Dtype::F64) == FlopsPerSecond(9'700'000'000'000));
}

}  // namespace
}  // namespace orrery
