#include "simulator/values/cuda/executor.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "models/program/holders.h"
#include "models/scenario/quantity_text.h"
#include "simulator/memory/layout.h"
#include "simulator/values/cuda/driver/memory.h"
#include "simulator/values/cuda/graph_builder.h"
#include "simulator/values/cuda/kernels/kernels.h"
#include "simulator/values/cuda/measure.h"

namespace orrery::cuda {

namespace {

/// This seeds the canaries. Any number will do that is the same for writing and for checking.
constexpr uint64_t kCanarySeed = 0x6f72726572790001U;

/// Observations has the values that are copied to the host, with their places there.
struct Observations {
  std::vector<Observed> list;  // `to` from the start of the host's memory
  Bytes size;
};

/// Returns the values that ops make (all values, or the outputs), on each device that has them.
Observations observations(const Program& program, bool all) {
  std::vector<bool> asked(program.values.size(), all);
  for (const ValueId output : program.outputs)
    asked[output.index()] = true;
  for (const Argument& argument : program.arguments)
    asked[argument.value.index()] = false;
  const Holders holders(program);
  Observations result;
  for (size_t v = 0; v < program.values.size(); ++v) {
    const ValueType& type = program.values[v].type;
    if (!asked[v] || type.future)
      continue;
    for (const LogicalId device : holders.of(ValueId(v))) {
      result.list.push_back({ValueId(v), device, static_cast<uint64_t>(result.size.count())});
      result.size += align_up(type.size(), Bytes(ReusePool::kAlignment));
    }
  }
  return result;
}

/// Returns the bytes beyond an arena that are known and must stay so. Up to a granule of the driver
/// has memory there. Guarding the first bytes is enough: an index error shows in them.
std::vector<ByteRange> guarded_beyond(const DeviceArena& arena) {
  constexpr Bytes kMost(int64_t{1} << 16);
  const ByteRange beyond = arena.beyond();
  return {{beyond.first, std::min(beyond.size, kMost)}};
}

class Executor {
 public:
  Executor(const Driver& driver, const Program& program, const Lowered& lowered,
           const MemoryPolicy& policy, const MemoryProfile& profile, DeviceValues arguments,
           const ExecutorOptions& options)
      : driver_(driver),
        program_(program),
        lowered_(lowered),
        options_(options),
        devices_(program.mesh.devices()),
        layout_(program, lowered, policy, profile),
        observed_(observations(program, options.observe_all)),
        gpus_(driver, std::min(gpu_count(driver), static_cast<int>(devices_))) {
    check_fit(gpus_);
    if (options.cublaslt != nullptr)
      products_.emplace(*options.cublaslt, gpus_, program, policy.alignment);
    run_.values = std::move(arguments);
  }

  GpuRun run() {
    run_.facts.driver = driver_.version;
    for (size_t g = 0; g < gpus_.size(); ++g)
      run_.facts.gpus.push_back(gpus_[g].info());
    if (products_)
      run_.facts.dots = products_->facts();
    make_memory();
    upload_arguments();
    const Image image = kernel_image();
    for (size_t g = 0; g < gpus_.size(); ++g)
      modules_.push_back(std::make_unique<KernelModule>(gpus_[g], image.fatbin, image.ptx));
    const Stream stream(gpus_[0]);
    run_for_values(stream);
    if (options_.measured_runs > 0)
      measure(stream);
    return std::move(run_);
  }

 private:
  size_t gpu(LogicalId device) const { return gpu_of(device, devices_, gpus_.size()); }

  /// Makes the arenas. The size of the memory beside them is known only once the graph is made. The
  /// graph has addresses, so it is made twice.
  void make_memory() {
    const Built built = build(std::vector<DeviceBases>(devices_), DevicePointer{0});
    const std::vector<Bytes>& beside = built.beside;
    check_free(beside);
    for (size_t d = 0; d < devices_; ++d) {
      const Bytes used = layout_.arena(LogicalId(d));
      arenas_.push_back(std::make_unique<DeviceArena>(
          gpus_, gpu(LogicalId(d)), ArenaSize{std::max(options_.limit.value_or(used), used), used},
          fmt::format("virtual device {}", d)));
      beside_.push_back(
          std::make_unique<DeviceArena>(gpus_, gpu(LogicalId(d)), ArenaSize{beside[d], beside[d]},
                                        fmt::format("virtual device {}, beside its arena", d)));
      for (const auto* const arena : {arenas_.back().get(), beside_.back().get()})
        write_canaries(*arena, guarded_beyond(*arena), kCanarySeed);
    }
    const Bytes guards =
        built.guards.empty() ? Bytes() : built.guards.back().to + built.guards.back().size;
    if (observed_.size + guards > Bytes())
      host_ = std::make_unique<PinnedMemory>(gpus_[0], observed_.size + guards);
  }

  /// Throws TooLittleMemory before anything is allocated.
  void check_free(const std::vector<Bytes>& beside) const {
    std::vector<Bytes> needed(gpus_.size());
    for (size_t d = 0; d < devices_; ++d) {
      const size_t g = gpu(LogicalId(d));
      const Bytes granule = gpus_[g].granule();
      needed[g] += align_up(layout_.arena(LogicalId(d)), granule) + align_up(beside[d], granule);
    }
    for (size_t g = 0; g < gpus_.size(); ++g) {
      const Bytes free = gpus_[g].memory().free;
      if (needed[g] > free)
        throw TooLittleMemory(
            fmt::format("GPU {} ({}) has {} free, and the virtual devices on it need {}", g,
                        gpus_[g].info().name, quantity_text(free), quantity_text(needed[g])));
    }
  }

  std::vector<DeviceBases> bases() const {
    std::vector<DeviceBases> bases;
    for (size_t d = 0; d < devices_; ++d)
      bases.push_back({arenas_[d]->address(), beside_[d]->address()});
    return bases;
  }

  /// Makes the work graph. It copies observed values and guards to `host`, if that is given.
  Built build(std::vector<DeviceBases> bases, std::optional<DevicePointer> host) const {
    BuildOptions options;
    options.bases = std::move(bases);
    options.omitted_cause = options_.omitted_cause;
    if (products_)
      options.products = products_->by_op();
    if (host) {
      options.observed = observed_.list;
      for (Observed& each : options.observed)
        each.to += *host;
      if (options_.observe_all)
        options.guards = *host + static_cast<uint64_t>(observed_.size.count());
    }
    return build_graph(program_, lowered_, layout_, options);
  }
  DevicePointer host() const {
    return host_ ? reinterpret_cast<uintptr_t>(host_->bytes().data()) : DevicePointer{0};
  }

  const FastProducts* products() const { return products_ ? &*products_ : nullptr; }

  void run_for_values(const Stream& stream) {
    const Built built = build(bases(), host());
    const GpuGraph graph(built.graph, program_, gpus_, modules_, Measured::Whole,
                         options_.most_nodes, products());
    graph.launch(stream);
    stream.synchronize("the program");
    download();
    check_canaries(built.guards);
    run_.digest = built.digest;
    run_.causes = built.causes;
    for (size_t d = 0; d < devices_; ++d)
      run_.facts.memory.push_back(
          {gpu(LogicalId(d)), std::max(built.arenas[d], uploaded_[d]), built.beside[d]});
    run_.facts.nodes = built.graph.size();
    run_.facts.graphs = graph.graphs();
    run_.facts.launches = graph.launches();
  }

  void upload_arguments() {
    uploaded_.resize(devices_);
    const Holders holders(program_);
    for (const Argument& argument : program_.arguments) {
      const Value& value = program_.value(argument.value);
      for (const LogicalId device : holders.of(argument.value)) {
        const std::optional<Tensor>& tensor = run_.values.at(argument.value, device);
        for (const ArenaRange& place : layout_.argument(device, value.buffer)) {
          Bytes& uploaded = uploaded_[device.index()];
          uploaded = std::max(uploaded, place.begin + place.size);
          if (tensor && tensor->size() > Bytes())
            arenas_[device.index()]->write(place.begin + value.offset, tensor->bytes());
        }
      }
    }
  }

  void download() {
    for (const Observed& each : observed_.list) {
      const ValueType& type = program_.value(each.value).type;
      Tensor tensor(type.dtype, type.shape);
      if (tensor.size() > Bytes())
        std::memcpy(tensor.bytes().data(), host_->bytes().data() + each.to, tensor.bytes().size());
      run_.values.at(each.value, each.device) = std::move(tensor);
    }
  }

  void check_canaries(const std::vector<Guard>& guards) {
    for (const auto* const arenas : {&arenas_, &beside_})
      for (const std::unique_ptr<DeviceArena>& arena : *arenas)
        if (!run_.facts.damage)
          if (const auto damage = damaged_canary(*arena, guarded_beyond(*arena), kCanarySeed))
            run_.facts.damage = damage_text(*arena, *damage);
    for (const Guard& guard : guards) {
      const std::byte* const copy = host_->bytes().data() + (observed_.size + guard.to).count();
      const std::byte* const end = copy + guard.size.count();
      const std::byte* const wrong =
          std::find_if(copy, end, [](std::byte byte) { return byte != kGuardByte; });
      if (wrong != end && !run_.facts.damage)
        run_.facts.damage =
            fmt::format("virtual device {}: byte {} behind \"{}\" was overwritten",
                        guard.device.index(), wrong - copy, program_.value(guard.value).name);
    }
  }

  /// Measures runs of a graph that copies nothing to the host. Their data are of no use, since
  /// arguments may have been overwritten. The whole is measured without events inside, since
  /// recording them takes time.
  void measure(const Stream& stream) {
    const Built built = build(bases(), std::nullopt);
    run_.facts.nodes = built.graph.size();
    Measurement& measurement = run_.facts.measurement.emplace();
    const GpuGraph whole(built.graph, program_, gpus_, modules_, Measured::Whole,
                         options_.most_nodes, products());
    run_.facts.graphs = whole.graphs();
    run_.facts.launches = whole.launches();
    const Event begin(gpus_[0]);
    const Event end(gpus_[0]);
    whole.launch(stream);  // not measured: the driver brings the graph to the GPU
    for (uint32_t r = 0; r < options_.measured_runs; ++r) {
      begin.record(stream);
      whole.launch(stream);
      end.record(stream);
      end.synchronize("a measured run");
      measurement.runs.push_back(end.since(begin));
    }
    if (options_.measured == Measured::Whole)
      return;
    const GpuGraph parts(built.graph, program_, gpus_, modules_, options_.measured,
                         options_.most_nodes, products());
    // This graph records one moment on all GPUs, before the run.
    std::vector<Event> starts;
    Graph together(driver_);
    for (size_t g = 0; g < gpus_.size(); ++g)
      together.add_record(starts.emplace_back(gpus_[g]), {});
    const GraphExec start(together);
    start.launch(stream);
    parts.launch(stream);
    stream.synchronize("a run with its ops measured");
    measurement.spans = parts.spans(starts);
    for (uint32_t w = 0; w < built.graph.size(); ++w) {
      const Work& work = built.graph[WorkId(w)];
      if (program_.op(work.part.op).site)
        measurement.moved[work.part.op] += bytes_of(work);
    }
    measurement.copies = copy_rates(gpus_);
  }

  const Driver& driver_;
  const Program& program_;
  const Lowered& lowered_;
  const ExecutorOptions& options_;
  const size_t devices_;
  const ArenaLayout layout_;
  const Observations observed_;
  const Gpus gpus_;
  std::optional<FastProducts> products_;                // where cuBLASLt is to do them
  std::vector<std::unique_ptr<DeviceArena>> arenas_;    // per device
  std::vector<std::unique_ptr<DeviceArena>> beside_;    // per device
  std::vector<Bytes> uploaded_;                         // per device: the end of its last argument
  std::unique_ptr<PinnedMemory> host_;                  // for what is observed, if anything is
  std::vector<std::unique_ptr<KernelModule>> modules_;  // per GPU
  GpuRun run_;
};

}  // namespace

GpuRun execute(const Driver& driver, const Program& program, const Lowered& lowered,
               const MemoryPolicy& policy, const MemoryProfile& profile, DeviceValues arguments,
               const ExecutorOptions& options) {
  return Executor(driver, program, lowered, policy, profile, std::move(arguments), options).run();
}

}  // namespace orrery::cuda
