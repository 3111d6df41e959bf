#pragma once

// Runs a program on the GPUs that are there: N virtual devices over G of them. Each has an arena
// that is laid out as the memory profile counts it, and the schedules become one graph of kernels
// and copies, whose edges are their causes.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/program/program.h"
#include "models/scenario/scenario.h"
#include "simulator/memory/profile.h"
#include "simulator/schedule/digest.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/cuda/cause_edges.h"
#include "simulator/values/cuda/copy_rates.h"
#include "simulator/values/cuda/driver/driver.h"
#include "simulator/values/cuda/driver/gpus.h"
#include "simulator/values/cuda/gpu_graph.h"
#include "simulator/values/cuda/unfit_gpu.h"
#include "simulator/values/values.h"

namespace orrery::cuda {

struct ExecutorOptions {
  /// Of each virtual device: addresses are reserved for all of it. Empty: for its arena alone.
  std::optional<Bytes> limit;
  /// Whether every value is copied to the host as soon as it is there, and the bytes behind it are
  /// guarded. If not, only outputs are copied.
  bool observe_all = true;
  /// Runs that are measured; none without any.
  uint32_t measured_runs = 0;
  Measured measured = Measured::Ops;  // Whole: neither spans nor the rates of copies
  uint32_t most_nodes = kMostNodes;   // of a graph of the driver
  /// Does each dot_general that it can, in whichever order it adds. Outlives the run.
  const CublasLt* cublaslt = nullptr;
  std::optional<OmittedCause> omitted_cause = {};  // an error that tests plant
};

/// The memory of a virtual device.
struct DeviceUse {
  size_t gpu = 0;
  Bytes arena;   // the end of the last byte that was given an address in it
  Bytes beside;  // messages in flight, and what has no room in the arena
};

struct Measurement {
  std::vector<Duration> runs;             // of the whole, one after another
  std::map<Timed, GpuGraph::Span> spans;  // of one more run, if asked for
  /// Per collective op: what its kernels and copies read and write, on all devices.
  std::map<OpId, Bytes> moved;
  std::optional<CopyRates> copies;  // of the same GPUs, after the runs
};

/// What a run on GPUs was, beside its values.
struct GpuFacts {
  int driver = 0;  // 1000 times the major number of CUDA, and 10 times the minor one
  std::vector<GpuInfo> gpus;
  std::vector<DeviceUse> memory;      // per virtual device
  uint32_t nodes = 0;                 // of what is measured, if anything is
  size_t graphs = 0;                  // of the driver
  size_t launches = 0;                // of them
  std::optional<DotFacts> dots;       // where cuBLASLt was to do them
  std::optional<std::string> damage;  // what was written outside of its place
  std::optional<Measurement> measurement;
};

struct GpuRun {
  /// As of the host executor, of what was observed, with the arguments.
  DeviceValues values;
  WalkDigest digest;
  CauseCounts causes = {};  // of the schedules and lists
  GpuFacts facts;
};

/// `arguments` holds the program's arguments on every device. Requires a program with all
/// iterations of its loops, that ends. Throws CudaError, CublasLtError and UnfitGpu.
GpuRun execute(const Driver& driver, const Program& program, const Lowered& lowered,
               const MemoryPolicy& policy, const MemoryProfile& profile, DeviceValues arguments,
               const ExecutorOptions& options);

}  // namespace orrery::cuda
