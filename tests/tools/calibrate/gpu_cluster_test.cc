// Tests the cluster that stands for virtual devices on GPUs, made from fits with known parameters.

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/scenario/cluster_json.h"
#include "models/scenario/document.h"
#include "simulator/network/paths.h"
#include "tests/support/units.h"
#include "tools/calibrate/gpu_fit.h"

namespace orrery::test {
namespace {

using cuda::WorkKind;

cuda::GpuMeasurements measured(uint32_t devices, size_t gpus) {
  cuda::GpuMeasurements made;
  made.driver = 13'000;
  made.devices = devices;
  made.gpus.resize(gpus);
  for (cuda::GpuInfo& gpu : made.gpus) {
    gpu.name = "GPU X";
    gpu.memory = Bytes(80'000'000'000);
  }
  return made;
}

GpuFit fit(WorkKind kind, uint32_t at_once, int64_t latency, int64_t rate) {
  GpuFit made;
  made.kind = kind;
  made.at_once = at_once;
  made.latency = Duration(latency);
  made.rate = rate;
  made.least = 4096;
  made.most = 1 << 20;
  made.errors = {0.01, -0.03};
  return made;
}

/// Returns fits of each kind by `at_once` virtual devices, and of copies by one.
std::vector<GpuFit> fits(uint32_t at_once) {
  GpuFit dot = fit(WorkKind::Dot, at_once, 9 * kUs, 700 * kGBps);
  dot.dtype = Dtype::BF16;
  return {fit(WorkKind::Copy, 1, kUs, 900 * kGBps),
          fit(WorkKind::Copy, at_once, 2 * kUs, 300 * kGBps),
          fit(WorkKind::PeerCopy, at_once, 2 * kUs, 50 * kGBps),
          fit(WorkKind::Combine, at_once, 3 * kUs, 200 * kGBps),
          fit(WorkKind::Pack, at_once, 4 * kUs, 250 * kGBps),
          fit(WorkKind::Elementwise, at_once, 5 * kUs, 600 * kGBps),
          dot};
}

const ProtocolFigures& protocol(const Cluster& cluster, const std::string& name) {
  const auto& all = cluster.transport->protocols;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const ProtocolFigures& each) { return each.name == name; });
  REQUIRE(found != all.end());
  return *found;
}

/// Returns the links from one device to another, by name.
std::vector<std::string> way(const Cluster& cluster, uint32_t from, uint32_t to) {
  Paths paths(cluster.fabric);
  std::vector<std::string> links;
  for (const LinkId link : paths.between(VertexId(from), VertexId(to), 0).links)
    links.push_back(cluster.fabric.link_text(link));
  return links;
}

TEST_CASE("gpu cluster: virtual devices of one GPU share the link that is its memory") {
  const Cluster cluster = gpu_cluster(measured(4, 1), fits(4), "2026-11-24");
  CHECK(cluster.name == "4 virtual devices on GPU X");
  CHECK(cluster.fabric.devices() == 4);
  const std::string shared = R"(switch "GPU 0 reads" -> switch "GPU 0 writes")";
  CHECK(way(cluster, 0, 3) == std::vector<std::string>{R"(device 0 -> switch "GPU 0 reads")",
                                                       shared,
                                                       R"(switch "GPU 0 writes" -> device 3)"});
  CHECK(way(cluster, 2, 1)[1] == shared);
  // Four devices at once copy 300 GB/s each.
  for (const Link& link : cluster.fabric.links())
    CHECK(link.bandwidth == BytesPerSecond(1200 * kGBps));
}

TEST_CASE("gpu cluster: between GPUs messages share a link of peer copies") {
  const Cluster cluster = gpu_cluster(measured(4, 2), fits(2), "2026-11-24");
  CHECK(cluster.name == "4 virtual devices on 2 x GPU X");
  CHECK(way(cluster, 0, 1)[1] == R"(switch "GPU 0 reads" -> switch "GPU 0 writes")");
  CHECK(way(cluster, 1, 2)[1] == R"(switch "GPU 0 reads" -> switch "GPU 1 writes")");
  CHECK(way(cluster, 3, 0)[1] == R"(switch "GPU 1 reads" -> switch "GPU 0 writes")");
  const auto source =
      std::find_if(cluster.sources.begin(), cluster.sources.end(),
                   [](const FigureSource& each) { return each.figure == "bandwidth"; });
  REQUIRE(source != cluster.sources.end());
  CHECK(
      source->source ==
      "orrery calibrate cuda on 2 x GPU X, CUDA 13.0: copy by 2 virtual devices at once, 4 KiB to "
      "1 "
      "MiB; mean error 2.0 %, worst -3.0 %; between GPUs peer copy by 2 virtual devices at once, 4 "
      "KiB to 1 MiB; mean error 2.0 %, worst -3.0 %");
  for (const Link& link : cluster.fabric.links()) {
    const bool peers = cluster.fabric.vertex_text(link.from) == R"(switch "GPU 0 reads")" &&
                       cluster.fabric.vertex_text(link.to) == R"(switch "GPU 1 writes")";
    if (peers)
      CHECK(link.bandwidth == BytesPerSecond(2 * 50 * kGBps));
  }
}

TEST_CASE("gpu cluster: work of a device has the rates of all devices at once") {
  const Cluster cluster = gpu_cluster(measured(4, 1), fits(4), "2026-11-24");
  CHECK(cluster.device.memory == Bytes(20'000'000'000));
  CHECK(cluster.device.memory_bandwidth == BytesPerSecond(600 * kGBps));
  CHECK(cluster.device.launch == Duration(5 * kUs));
  CHECK(cluster.device.reduce_rate == BytesPerSecond(200 * kGBps));
  CHECK(cluster.device.copy_rate == BytesPerSecond(250 * kGBps));
  CHECK(cluster.device.flops ==
        std::map<Dtype, FlopsPerSecond>{{Dtype::BF16, FlopsPerSecond(700 * kGBps)}});
  const ProtocolFigures& turns = protocol(cluster, "graph");
  CHECK(turns.algorithms == std::vector<std::string>{"ring", "recursive_doubling", "bidirectional",
                                                     "pairwise", "in_switch", "halving_doubling",
                                                     "bruck", "pat", "tree"});
  CHECK(turns.overhead == Duration(2 * kUs));
  CHECK(turns.latency == Duration(2 * kUs));
  CHECK(turns.channel_rate == BytesPerSecond(900 * kGBps));
  for (const auto& rate : {turns.copy_rate, turns.store_rate, turns.forward_rate})
    CHECK(rate == BytesPerSecond(300 * kGBps));
  CHECK(turns.reduce_rate == BytesPerSecond(200 * kGBps));
  // 1 / 200 = 1 / 300 + 1 / 600: the kernel takes as long as the copy and the rest.
  CHECK(turns.forward_reduce_rate == BytesPerSecond(600 * kGBps));
}

TEST_CASE("gpu cluster: several messages at once cross the memory twice each") {
  const Cluster cluster = gpu_cluster(measured(4, 1), fits(4), "2026-11-24");
  const ProtocolFigures& at_once = protocol(cluster, "graph_at_once");
  CHECK(at_once.algorithms == std::vector<std::string>{"direct", "one_shot"});
  CHECK(at_once.share == DataShare{1, 2});
  CHECK(!at_once.store_rate);
  CHECK(at_once.copy_rate == BytesPerSecond(300 * kGBps));
  const ProtocolFigures& broadcast = protocol(cluster, "graph_broadcast");
  CHECK(broadcast.ops == std::vector<std::string>{"pbroadcast"});
  // Only the source copies its own part.
  CHECK(broadcast.copy_rate == BytesPerSecond(900 * kGBps));
}

TEST_CASE("gpu cluster: where a combination is as fast as a copy, sending it on takes no more") {
  std::vector<GpuFit> fast = fits(4);
  fast[3].rate = 300 * kGBps;
  const Cluster cluster = gpu_cluster(measured(4, 1), fast, "2026-11-24");
  CHECK(protocol(cluster, "graph").forward_reduce_rate == BytesPerSecond(1'000'000'000 * kGBps));
}

TEST_CASE("gpu cluster: every figure tells where it is from, and the file is read back") {
  const Cluster cluster = gpu_cluster(measured(4, 1), fits(4), "2026-11-24");
  const auto source = [&](const std::string& figure) {
    const auto found =
        std::find_if(cluster.sources.begin(), cluster.sources.end(),
                     [&](const FigureSource& each) { return each.figure == figure; });
    return found == cluster.sources.end() ? "none" : found->label + ": " + found->source;
  };
  CHECK(source("transport/graph/store_rate") ==
        "calibrated: orrery calibrate cuda on GPU X, CUDA 13.0: copy by 4 virtual devices at once, "
        "4 KiB to 1 MiB; mean error 2.0 %, worst -3.0 %");
  CHECK(
      source("flops/bf16") ==
      "calibrated: orrery calibrate cuda on GPU X, CUDA 13.0: dot_general in the stated order by 4 "
      "virtual devices at once, of 1 dtype; mean error 2.0 %, worst -3.0 %");
  CHECK(
      source("memory") ==
      "measured: orrery calibrate cuda on GPU X, CUDA 13.0: what the driver tells, divided by the "
      "virtual devices");
  for (const char* const figure :
       {"bandwidth", "memory_bandwidth", "launch", "reduce_rate", "copy_rate",
        "transport/graph/overhead", "transport/graph_at_once/channel_rate",
        "transport/graph_broadcast/forward_reduce_rate"})
    CHECK(source(figure).starts_with("calibrated: "));
  CHECK(cluster.transport->calibrated.at("psum") ==
        CalibratedRange{1, 4, Bytes(4096), Bytes(1 << 20)});

  Diagnostics diagnostics("file");
  const std::string text = cluster_text(cluster).lines();
  const Document document(text, diagnostics);
  const auto again = read_cluster(*document.root(), {}, diagnostics);
  diagnostics.throw_if_any();
  REQUIRE(again);
  CHECK(again->cluster.name == cluster.name);
  CHECK(again->cluster.device == cluster.device);
  CHECK(again->cluster.transport == cluster.transport);
  CHECK(cluster_text(again->cluster).lines() == text);
}

TEST_CASE("gpu cluster: one virtual device alone has no links") {
  const Cluster cluster = gpu_cluster(measured(1, 1), fits(1), "2026-11-24");
  CHECK(cluster.fabric.devices() == 1);
  CHECK(cluster.fabric.links().empty());
}

}  // namespace
}  // namespace orrery::test
