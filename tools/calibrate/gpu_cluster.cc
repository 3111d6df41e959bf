#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/check.h"
#include "models/program/rules.h"
#include "models/scenario/size_limits.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/values/gpu_facts.h"
#include "tools/calibrate/fit.h"
#include "tools/calibrate/gpu_fit.h"
#include "tools/calibrate/residuals.h"

namespace orrery {
namespace {

using cuda::WorkKind;

/// This is the rate of work that takes no time of its own, 1 EB/s.
constexpr int64_t kNoTime = 1'000'000'000'000'000'000;
// The names of the protocols.
constexpr const char* kInTurns = "graph";
constexpr const char* kAtOnce = "graph_at_once";
constexpr const char* kOfBroadcasts = "graph_broadcast";
constexpr std::string_view kBroadcast = "pbroadcast";  // an op

class Maker {
 public:
  Maker(const cuda::GpuMeasurements& measured, std::span<const GpuFit> fits,
        const std::string& date)
      : measured_(measured),
        fits_(fits),
        date_(date),
        gpus_(static_cast<uint32_t>(measured.gpus.size())),
        on_gpu_(most_on_a_gpu(measured)) {}

  Cluster make() {
    Cluster cluster{fmt::format("{} on {}", counted(measured_.devices, "virtual device"), gpus()),
                    fabric(), device()};
    cluster.transport = transport();
    cluster.sources = sources();
    return cluster;
  }

 private:
  const GpuFit& fit_of(WorkKind kind, uint32_t at_once) const {
    const auto found = std::find_if(fits_.begin(), fits_.end(), [&](const GpuFit& fit) {
      return fit.kind == kind && fit.at_once == at_once;
    });
    ORRERY_CHECK(found != fits_.end(), "each kind of work was fitted");
    return *found;
  }
  /// Returns the fit of work that all virtual devices of a GPU do at once.
  const GpuFit& shared(WorkKind kind) const { return fit_of(kind, on_gpu_); }

  static BytesPerSecond rate(int64_t rate) {
    return BytesPerSecond(std::min(rate, kMostBandwidth));
  }

  std::string gpus() const {
    const std::string& name = measured_.gpus.front().name;
    return gpus_ == 1 ? name : fmt::format("{} x {}", gpus_, name);
  }

  /// Makes two switches for each GPU. A virtual device sends through the switch for what its GPU
  /// reads, and receives through the switch for what its GPU writes. All messages from one GPU to
  /// another, or within one, share the link between the two switches.
  Fabric fabric() const {
    const uint32_t devices = measured_.devices;
    if (devices == 1)
      return ring_fabric(1, {BytesPerSecond(1), Duration()});
    std::vector<std::string> switches;
    for (uint32_t g = 0; g < gpus_; ++g) {
      switches.push_back(fmt::format("GPU {} reads", g));
      switches.push_back(fmt::format("GPU {} writes", g));
    }
    const auto reads = [&](size_t gpu) { return VertexId(devices + 2 * gpu); };
    const auto writes = [&](size_t gpu) { return VertexId(devices + 2 * gpu + 1); };
    const BytesPerSecond all = of_all(WorkKind::Copy);  // a single message has channel_rate at most
    std::vector<Link> links;
    for (uint32_t d = 0; d < devices; ++d) {
      const size_t gpu = cuda::gpu_of(LogicalId(d), devices, gpus_);
      links.push_back({VertexId(d), reads(gpu), all, Duration()});
      links.push_back({writes(gpu), VertexId(d), all, Duration()});
    }
    for (uint32_t from = 0; from < gpus_; ++from)
      for (uint32_t to = 0; to < gpus_; ++to)
        links.push_back({reads(from), writes(to),
                         of_all(from == to ? WorkKind::Copy : WorkKind::PeerCopy), Duration()});
    return {devices, std::move(switches), std::move(links)};
  }

  BytesPerSecond of_all(WorkKind kind) const { return rate(shared(kind).rate * int64_t{on_gpu_}); }

  DeviceFigures device() const {
    DeviceFigures device;
    device.memory = Bytes(measured_.gpus.front().memory.count() / int64_t{on_gpu_});
    device.memory_bandwidth = BytesPerSecond(shared(WorkKind::Elementwise).rate);
    device.launch = shared(WorkKind::Elementwise).latency;
    device.reduce_rate = BytesPerSecond(shared(WorkKind::Combine).rate);
    device.copy_rate = BytesPerSecond(shared(WorkKind::Pack).rate);
    for (const GpuFit& fit : fits_)
      if (fit.kind == WorkKind::Dot)
        device.flops[fit.dtype] = FlopsPerSecond(fit.rate);
    return device;
  }

  TransportFigures transport() const {
    const GpuFit& copy = shared(WorkKind::Copy);
    TransportFigures transport;
    transport.protocols = {in_turns(), at_once(), of_broadcasts()};
    for (const std::string_view op : timed_ops())
      transport.calibrated.emplace(
          op, CalibratedRange{1, measured_.devices, Bytes(copy.least), Bytes(copy.most)});
    return transport;
  }

  /// Returns the figures that all protocols have. A node of the sender copies a message into a
  /// slot, and one of the receiver copies it out.
  ProtocolFigures protocol(const char* called) const {
    const GpuFit& copy = shared(WorkKind::Copy);
    ProtocolFigures protocol;
    protocol.name = called;
    protocol.channels = 1;
    protocol.launch = Duration();
    protocol.overhead = copy.latency;
    protocol.latency = copy.latency;
    protocol.channel_rate = rate(fit_of(WorkKind::Copy, 1).rate);
    protocol.copy_rate = BytesPerSecond(copy.rate);
    protocol.reduce_rate = BytesPerSecond(shared(WorkKind::Combine).rate);
    protocol.forward_reduce_rate = forward_reduce_rate();
    return protocol;
  }

  /// Returns the protocol "graph": each rank takes one message after another, and all ranks do so
  /// at the same time.
  ProtocolFigures in_turns() const {
    ProtocolFigures made = protocol(kInTurns);
    for (const Algorithm& algorithm : algorithms())
      if (!sends_at_once(algorithm.name) && algorithm.is_for_topology == nullptr &&
          std::find(made.algorithms.begin(), made.algorithms.end(), algorithm.name) ==
              made.algorithms.end())
        made.algorithms.emplace_back(algorithm.name);
    made.store_rate = made.forward_rate = made.copy_rate;
    return made;
  }

  /// Returns the protocol "graph_at_once": a rank takes several messages at once. Copies out of
  /// slots share the memory with those into slots, so both are counted on the links.
  ProtocolFigures at_once() const {
    ProtocolFigures made = protocol(kAtOnce);
    made.algorithms = {"direct", "one_shot"};
    for (const std::string_view op : timed_ops())
      if (op != kBroadcast)
        made.ops.emplace_back(op);
    made.share = {1, 2};
    return made;
  }

  /// Returns the protocol "graph_broadcast". It is like "graph_at_once", but only the source copies
  /// inside its memory.
  ProtocolFigures of_broadcasts() const {
    ProtocolFigures made = at_once();
    made.name = kOfBroadcasts;
    made.algorithms = {"direct"};
    made.ops = {std::string(kBroadcast)};
    made.copy_rate = made.channel_rate;
    return made;
  }

  static bool sends_at_once(std::string_view algorithm) {
    return algorithm == "direct" || algorithm == "one_shot";
  }

  /// One kernel combines a message that is only sent on, straight into the receiver's slot. The
  /// model has a reduction and then a copy, which together take as long as the kernel. If the copy
  /// alone takes longer, the reduction takes no time.
  BytesPerSecond forward_reduce_rate() const {
    const auto combine = static_cast<double>(shared(WorkKind::Combine).rate);
    const auto copy = static_cast<double>(shared(WorkKind::Copy).rate);
    if (combine >= copy)
      return BytesPerSecond(kNoTime);
    return BytesPerSecond(std::min(kNoTime, three_digits(combine * copy / (copy - combine))));
  }

  /// Returns the domain of a fit: "copy by 8 virtual devices at once, 4 KiB to 256 MiB; mean error
  /// 1.2 %, worst +5.0 %".
  static std::string domain(const GpuFit& fit) {
    return fmt::format("{}, {} to {}; mean error {}, worst {}", name_of(fit),
                       amount_text(fit, fit.least), amount_text(fit, fit.most),
                       percent(fit.mean_error()), signed_percent(fit.worst_error()));
  }
  std::string domain_of_products() const {
    double mean = 0;
    double worst = 0;
    int64_t dtypes = 0;
    for (const GpuFit& fit : fits_) {
      if (fit.kind != WorkKind::Dot)
        continue;
      mean += fit.mean_error();
      ++dtypes;
      if (std::abs(fit.worst_error()) > std::abs(worst))
        worst = fit.worst_error();
    }
    return fmt::format(
        "dot_general in the stated order by {} at once, of {}; mean error {}, worst {}",
        counted(on_gpu_, "virtual device"), counted(dtypes, "dtype"),
        percent(mean / static_cast<double>(dtypes)), signed_percent(worst));
  }

  std::vector<FigureSource> sources() const {
    std::vector<FigureSource> sources;
    const std::string where = fmt::format("orrery calibrate cuda on {}, CUDA {}.{}", gpus(),
                                          measured_.driver / 1000, measured_.driver % 1000 / 10);
    const auto add = [&](std::string figure, std::string_view label, const std::string& what) {
      sources.push_back({std::move(figure), std::string(label), where + ": " + what, date_});
    };
    const std::string copies = domain(shared(WorkKind::Copy));
    const std::string combinations = domain(shared(WorkKind::Combine));
    const std::string additions = domain(shared(WorkKind::Elementwise));
    if (measured_.devices > 1)
      add("bandwidth", kCalibrated,
          gpus_ == 1
              ? copies
              : fmt::format("{}; between GPUs {}", copies, domain(shared(WorkKind::PeerCopy))));
    const std::string alone = domain(fit_of(WorkKind::Copy, 1));
    for (const char* const protocol : {kInTurns, kAtOnce, kOfBroadcasts}) {
      const auto of_protocol = [&](const char* figure, const std::string& what) {
        add(fmt::format("transport/{}/{}", protocol, figure), kCalibrated, what);
      };
      of_protocol("channel_rate", alone);
      of_protocol("overhead", copies);
      of_protocol("latency", copies);
      of_protocol("copy_rate", protocol == kOfBroadcasts ? alone : copies);
      of_protocol("reduce_rate", combinations);
      of_protocol("forward_reduce_rate", combinations);
    }
    for (const char* const figure : {"store_rate", "forward_rate"})
      add(fmt::format("transport/{}/{}", kInTurns, figure), kCalibrated, copies);
    add("reduce_rate", kCalibrated, combinations);
    add("copy_rate", kCalibrated, domain(shared(WorkKind::Pack)));
    add("memory_bandwidth", kCalibrated, additions);
    add("launch", kCalibrated, additions);
    add("memory", kMeasured, "what the driver tells, divided by the virtual devices");
    for (const GpuFit& fit : fits_)
      if (fit.kind == WorkKind::Dot)
        add(fmt::format("flops/{}", name(fit.dtype)), kCalibrated, domain_of_products());
    std::sort(sources.begin(), sources.end(),
              [](const FigureSource& a, const FigureSource& b) { return a.figure < b.figure; });
    return sources;
  }

  const cuda::GpuMeasurements& measured_;
  const std::span<const GpuFit> fits_;
  const std::string& date_;
  const uint32_t gpus_;
  const uint32_t on_gpu_;
};

}  // namespace

uint32_t most_on_a_gpu(const cuda::GpuMeasurements& measured) {
  const auto gpus = static_cast<uint32_t>(measured.gpus.size());
  return (measured.devices + gpus - 1) / gpus;
}

Cluster gpu_cluster(const cuda::GpuMeasurements& measured, std::span<const GpuFit> fits,
                    const std::string& date) {
  return Maker(measured, fits, date).make();
}

}  // namespace orrery
