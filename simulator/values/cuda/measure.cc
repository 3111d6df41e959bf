#include "simulator/values/cuda/measure.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/check.h"
#include "models/base/compiler.h"
#include "models/base/diagnostics.h"
#include "models/program/builder.h"
#include "models/program/op_rules.h"
#include "models/scenario/quantity_text.h"
#include "simulator/values/cuda/driver/gpu.h"
#include "simulator/values/cuda/driver/memory.h"
#include "simulator/values/cuda/gpu_graph.h"
#include "simulator/values/cuda/kernels/calls.h"
#include "simulator/values/cuda/kernels/kernels.h"

namespace orrery::cuda {

NodeTimer::NodeTimer(const Gpus& gpus, std::vector<std::unique_ptr<KernelModule>>& modules)
    : gpus_(gpus), modules_(modules), stream_(gpus[0]) {}

Duration NodeTimer::node(std::span<const Lane> lanes) const {
  const Duration first = chains(lanes, 1);
  const Duration all = chains(lanes, 1 + kNodes);
  return Duration(std::max<int64_t>(0, (all - first).count() / kNodes));
}

Duration NodeTimer::launch() const {
  Graph graph(gpus_[0].driver());
  graph.add_join({});
  return median(graph);
}

Duration NodeTimer::chains(std::span<const Lane> lanes, int nodes) const {
  Graph graph(gpus_[0].driver());
  for (const Lane& lane : lanes) {
    const Gpu& gpu = gpus_[lane.gpu];
    std::vector<GraphNode> after;
    for (int n = 0; n < nodes; ++n) {
      if (const auto* const copy = std::get_if<Copy>(&lane.work))
        after = {graph.add_copy(gpu, copy->to, copy->from, copy->size, after)};
      else
        after = {graph.add_kernel(
            launch_of(std::get<KernelCall>(lane.work), gpu, *modules_[lane.gpu]), after)};
    }
  }
  return median(graph);
}

Duration NodeTimer::median(const Graph& graph) const {
  const GraphExec exec(graph);
  const Event begin(gpus_[0]);
  const Event end(gpus_[0]);
  exec.launch(stream_);
  std::vector<Duration> times;
  for (int run = 0; run < kRuns; ++run) {
    begin.record(stream_);
    exec.launch(stream_);
    end.record(stream_);
    end.synchronize("a graph that is timed");
    times.push_back(end.since(begin));
  }
  std::sort(times.begin(), times.end());
  return times[kRuns / 2];
}

namespace {

constexpr Bytes kMostCopied(int64_t{256} << 20U);
constexpr Bytes kLeastCopied(int64_t{64} << 10U);

BytesPerSecond rate(Bytes size, Duration time) {
  constexpr int64_t kPicoseconds = 1'000'000'000'000;
  if (time == Duration())
    return BytesPerSecond(0);
  return BytesPerSecond(static_cast<int64_t>(Int128{size.count()} * kPicoseconds / time.count()));
}

}  // namespace

std::optional<CopyRates> copy_rates(const Gpus& gpus) {
  Bytes size = kMostCopied;
  for (size_t g = 0; g < gpus.size(); ++g)
    size = std::min(size, Bytes(gpus[g].memory().free.count() / 128));
  size = Bytes(size.count() / kLeastCopied.count() * kLeastCopied.count());
  if (size == Bytes())
    return std::nullopt;
  std::vector<std::unique_ptr<DeviceArena>> arenas;  // two of each GPU
  for (size_t g = 0; g < gpus.size(); ++g)
    for (int i = 0; i < 2; ++i)
      arenas.push_back(
          std::make_unique<DeviceArena>(gpus, g, ArenaSize{size, size}, "what is copied"));
  std::vector<std::unique_ptr<KernelModule>> none;
  const NodeTimer timer(gpus, none);
  const auto measured = [&](size_t gpu, size_t from, size_t to) {
    const std::array<Lane, 1> lane = {
        Lane{gpu, Copy{arenas[to]->address(), arenas[from]->address(), size}}};
    return rate(size, timer.node(lane));
  };
  CopyRates rates;
  rates.size = size;
  for (size_t g = 0; g < gpus.size(); ++g)
    rates.in_gpu.push_back(measured(g, 2 * g, 2 * g + 1));
  if (gpus.size() > 1)
    rates.to_next = measured(0, 0, 3);
  return rates;
}

namespace {

constexpr Bytes kLeast(4096);
constexpr int64_t kFactor = 4;
/// Rows of packed data have this many elements, which stay together.
constexpr int64_t kPackedRow = 256;
constexpr size_t kBuffers = 3;  // per virtual device

/// A OneOp is a program of one op on one device.
struct OneOp {
  Program program;
  Cost cost;

  const Op& op() const { return program.ops.front(); }
};

OneOp one_op(OpKind kind, Attributes attributes,
             const std::vector<std::pair<Dtype, Shape>>& operands) {
  Diagnostics diagnostics("measured");
  ProgramBuilder builder(Mesh({{"x", 1}}), Checks::Shapes, diagnostics);
  OpRequest request;
  request.name = "result";
  request.kind = kind;
  request.attributes = std::move(attributes);
  for (size_t i = 0; i < operands.size(); ++i) {
    request.operands.push_back(fmt::format("operand{}", i));
    builder.argument(request.operands.back(), operands[i].first, operands[i].second, {"x"});
  }
  builder.thread("all", {LogicalId(0)});
  builder.op(std::move(request));
  OneOp made{builder.finish(), {}};
  diagnostics.throw_if_any();
  made.cost = cost_of(made.program, made.op());
  return made;
}

OneOp addition(Bytes size) {
  const Shape shape({size.count() / itemsize(Dtype::F32).count()});
  return one_op(OpKind::Add, {}, {{Dtype::F32, shape}, {Dtype::F32, shape}});
}

/// Returns an op that makes rows of two halves from two halves of rows, as some collectives do.
OneOp packing(Bytes size) {
  const int64_t rows = size.count() / itemsize(Dtype::F32).count() / kPackedRow;
  Attributes attributes;
  attributes.set("permutation", std::vector<int64_t>{1, 0, 2});
  return one_op(OpKind::Transpose, std::move(attributes),
                {{Dtype::F32, Shape({2, rows / 2, kPackedRow})}});
}

OneOp product(Dtype dtype, int64_t side) {
  Attributes attributes;
  attributes.set("dimension_numbers", std::vector<std::vector<int64_t>>{{1}, {0}, {}, {}});
  return one_op(OpKind::DotGeneral, std::move(attributes),
                {{dtype, Shape({side, side})}, {dtype, Shape({side, side})}});
}

class Measuring {
 public:
  Measuring(const Driver& driver, const MeasureOptions& options)
      : options_(options),
        gpus_(driver, std::min(gpu_count(driver), static_cast<int>(options.devices))),
        on_gpu_(static_cast<uint32_t>((options.devices + gpus_.size() - 1) / gpus_.size())) {
    result_.driver = driver.version;
    result_.devices = options.devices;
    for (size_t g = 0; g < gpus_.size(); ++g)
      result_.gpus.push_back(gpus_[g].info());
  }

  GpuMeasurements run() {
    check_fit(gpus_);
    make_memory();
    const Image image = kernel_image();
    for (size_t g = 0; g < gpus_.size(); ++g)
      modules_.push_back(std::make_unique<KernelModule>(gpus_[g], image.fatbin, image.ptx));
    const NodeTimer timer(gpus_, modules_);
    result_.launch = timer.launch();
    for (const Bytes size : sizes())
      for (const uint32_t at_once : numbers())
        measure(timer, size, at_once);
    for (const Dtype dtype : all_dtypes())
      if (dtype != Dtype::Pred)
        measure_products(timer, dtype);
    return std::move(result_);
  }

 private:
  void make_memory() {
    const Bytes each = options_.most * static_cast<int64_t>(kBuffers);
    const bool peers = gpus_.size() > 1;
    for (size_t g = 0; g < (peers ? 2 : 1); ++g) {
      const Bytes needed = each * int64_t{on_gpu_};
      const Bytes free = gpus_[g].memory().free;
      if (needed > free)
        throw TooLittleMemory(fmt::format(
            "GPU {} ({}) has {} free, and measuring {} there takes {}", g, gpus_[g].info().name,
            quantity_text(free), counted(on_gpu_, "virtual device"), quantity_text(needed)));
      for (uint32_t d = 0; d < on_gpu_; ++d)
        arenas_.push_back(std::make_unique<DeviceArena>(gpus_, g, ArenaSize{each, each},
                                                        fmt::format("what is measured, {}", d)));
    }
  }

  DevicePointer buffer(uint32_t device, size_t number) const {
    return arenas_[device]->address(options_.most * static_cast<int64_t>(number));
  }

  std::vector<Bytes> sizes() const {
    std::vector<Bytes> sizes;
    for (Bytes size = options_.most; size >= kLeast; size = Bytes(size.count() / kFactor))
      sizes.push_back(align_up(size, Bytes(2 * kPackedRow * itemsize(Dtype::F32).count())));
    std::reverse(sizes.begin(), sizes.end());
    return sizes;
  }

  std::set<uint32_t> numbers() const { return {1, std::min<uint32_t>(2, on_gpu_), on_gpu_}; }

  /// Measures all kinds but products.
  void measure(const NodeTimer& timer, Bytes size, uint32_t at_once) {
    const auto copy = [&](uint32_t from, uint32_t to) {
      return Copy{buffer(to, 1), buffer(from, 0), size};
    };
    add(timer, {WorkKind::Copy, Dtype::F32, at_once, size, {}, {}},
        [&](uint32_t device) { return copy(device, device); });
    if (gpus_.size() > 1)
      add(timer, {WorkKind::PeerCopy, Dtype::F32, at_once, size, {}, {}},
          [&](uint32_t device) { return copy(device, on_gpu_ + device); });
    const Folding adding = folding({Dtype::F32, false}, Combine::Add, Numerics::Ieee);
    add(timer, {WorkKind::Combine, Dtype::F32, at_once, size, {}, {}}, [&](uint32_t device) {
      return combine_call(adding, Combine::Add,
                          {buffer(device, 2), buffer(device, 0), buffer(device, 1)},
                          size.count() / itemsize(adding.held).count());
    });
    add_op(timer, {WorkKind::Pack, Dtype::F32, at_once, size, {}, {}}, packing(size));
    const OneOp sum = addition(size);
    add_op(timer, {WorkKind::Elementwise, Dtype::F32, at_once, sum.cost.bytes, {}, {}}, sum);
  }

  /// Measures products of squares as large as the buffers allow, up to 1024 elements a side, and of
  /// smaller ones.
  void measure_products(const NodeTimer& timer, Dtype dtype) {
    int64_t side = 1024;
    while (side > 16 && itemsize(dtype) * (side * side) > options_.most)
      side /= 2;
    for (const int64_t of : {side / 4, side / 2, side}) {
      const OneOp dot = product(dtype, of);
      add_op(timer, {WorkKind::Dot, dtype, on_gpu_, Bytes(), dot.cost.flops, {}}, dot);
    }
  }

  template <class WorkOf>
  void add(const NodeTimer& timer, MeasuredWork work, const WorkOf& work_of) {
    std::vector<Lane> lanes;
    for (uint32_t device = 0; device < work.at_once; ++device)
      lanes.push_back({0, work_of(device)});
    work.node = timer.node(lanes);
    result_.works.push_back(work);
  }

  void add_op(const NodeTimer& timer, const MeasuredWork& work, const OneOp& one) {
    add(timer, work, [&](uint32_t device) {
      std::vector<DevicePointer> operands;
      for (size_t i = 0; i < one.op().operands.size(); ++i)
        operands.push_back(buffer(device, i));
      const std::array<DevicePointer, 1> results = {buffer(device, 2)};
      std::vector<KernelCall> calls =
          local_calls(one.program, one.op(), LogicalId(0), {operands, results});
      ORRERY_CHECK(calls.size() == 1, "what is measured is one kernel");
      return std::move(calls.front());
    });
  }

  const MeasureOptions& options_;
  const Gpus gpus_;
  const uint32_t on_gpu_;                               // virtual devices of the first GPU
  std::vector<std::unique_ptr<DeviceArena>> arenas_;    // of GPU 0, then of GPU 1
  std::vector<std::unique_ptr<KernelModule>> modules_;  // per GPU
  GpuMeasurements result_;
};

}  // namespace

GpuMeasurements measure(const Driver& driver, const MeasureOptions& options) {
  ORRERY_CHECK(options.devices > 0 && options.most >= kLeast, "something to measure");
  return Measuring(driver, options).run();
}

}  // namespace orrery::cuda
