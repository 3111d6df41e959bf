// The catalog against the data sheets and the measurements it was fitted to.

#include <cstdlib>

#include <doctest/doctest.h>

#include "models/scenario/cluster_reader.h"

namespace orrery {
namespace {

constexpr int64_t kTera = 1'000'000'000'000;

/// The time of a ring all-reduce of almost no data: launch, then 2(n-1) steps over two links each.
Duration small_all_reduce(const Cluster& cluster, int64_t devices) {
  return *cluster.device.launch + 2 * (devices - 1) * (2 * cluster.fabric.links()[0].latency);
}

int64_t apart_ns(Duration a, Duration b) {
  return std::abs(a.count() - b.count()) / 1000;
}

constexpr Duration microseconds(double us) {
  return Duration(static_cast<int64_t>(us * 1e6));
}

TEST_CASE("catalog: every entry is a cluster of eight devices behind a switch") {
  for (const CatalogEntry& entry : catalog()) {
    const std::optional<Cluster> cluster = catalog_cluster(entry.name);
    REQUIRE(cluster.has_value());
    CHECK(cluster->name == entry.name);
    CHECK(cluster->fabric.devices() == 8);
    CHECK(cluster->fabric.links().size() == 16);
  }
  CHECK_FALSE(catalog_cluster("h100").has_value());
}

TEST_CASE("catalog: every figure has a label, a source and a date") {
  for (const CatalogEntry& entry : catalog()) {
    const Cluster cluster = *catalog_cluster(entry.name);
    // bandwidth, latency, launch, memory, memory_bandwidth, and a rate per dtype.
    CHECK(cluster.sources.size() == 5 + cluster.device.flops.size());
    for (const FigureSource& source : cluster.sources) {
      CHECK(source.label != "");
      CHECK(source.source != "");
      CHECK(source.date.size() == 10);
    }
    CHECK_FALSE(cluster.device.reduce_rate.has_value());
    CHECK_FALSE(cluster.device.copy_rate.has_value());
  }
}

TEST_CASE("catalog: H100 SXM has the figures of its data sheet") {
  const Cluster h100 = *catalog_cluster("h100-sxm-8");
  CHECK(h100.fabric.links()[0].bandwidth == BytesPerSecond(450'000'000'000));
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
  CHECK(a100.fabric.links()[0].bandwidth == BytesPerSecond(300'000'000'000));
  CHECK(a100.device.memory == Bytes(80LL << 30));
  CHECK(a100.device.memory_bandwidth == BytesPerSecond(2 * kTera));
  CHECK(a100.device.flops.at(Dtype::BF16) == FlopsPerSecond(312 * kTera));
  CHECK(a100.device.flops.at(Dtype::F32) == FlopsPerSecond(19'500'000'000'000));
  CHECK(a100.device.flops.at(Dtype::F64) == FlopsPerSecond(9'700'000'000'000));
}

TEST_CASE("catalog: latency and launch give back the small all-reduces they were fitted to") {
  // Measured times; the largest residual of the fit over 2, 4 and 8 devices is 1.1 us.
  const Cluster a100 = *catalog_cluster("a100-sxm-8");
  CHECK(apart_ns(small_all_reduce(a100, 2), microseconds(8.51)) <= 1'110);
  CHECK(apart_ns(small_all_reduce(a100, 4), microseconds(11.77)) <= 1'110);
  CHECK(apart_ns(small_all_reduce(a100, 8), microseconds(23.41)) <= 1'110);
  // One measurement for H100: rounding 14 links to half a nanosecond each, plus a margin.
  const Cluster h100 = *catalog_cluster("h100-sxm-8");
  CHECK(apart_ns(small_all_reduce(h100, 8), microseconds(13.0)) <= 30);
}

}  // namespace
}  // namespace orrery
