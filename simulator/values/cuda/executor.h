#pragma once

// execute() runs a program on the GPUs of this machine, as N virtual devices over G GPUs.
//
// How this folder works:
//  1. The arenas are laid out as the memory profile counts them (simulator/memory/layout.h).
//  2. graph_builder.h walks the lowered program as the other executors do, and makes one work graph
//     of it: each local op, and each half of each step, gives kernels and copies (kernels/), and
//     each of its causes gives an edge. collective_builder.h does the part of one collective, and
//     device_memory.h knows the addresses. The graph is made twice: how much memory lies beside the
//     arenas is known after the first time.
//  3. gpu_graph.h turns it into graphs of the driver (driver/), which are launched. No stream, lock
//     or host thread orders anything else, so a missing cause is a race: the mock driver of the
//     tests runs what is ready in random order, and finds it.
//  4. Values are copied to the host by nodes of the graph as soon as they are there. Known bytes
//     lie behind each result and each arena. One that has changed was written out of bounds.
//  5. measure.h times nodes; measured runs come after the run whose values are taken.
// Kernels have the same text on the GPU and on the host (models/array), so values are the same bit
// for bit, except for products that cuBLASLt does (fast_products.h).

#include <cstdint>
#include <optional>

#include "models/base/quantity.h"
#include "models/program/program.h"
#include "models/scenario/scenario.h"
#include "simulator/memory/profile.h"
#include "simulator/schedule/digest.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/cuda/driver/driver.h"
#include "simulator/values/cuda/gpu_graph.h"
#include "simulator/values/cuda/work_graph.h"
#include "simulator/values/gpu_facts.h"
#include "simulator/values/values.h"

namespace orrery::cuda {

struct ExecutorOptions {
  /// The memory of each virtual device; addresses are reserved for all of it. If it is empty, they
  /// are reserved for the arena alone.
  std::optional<Bytes> limit;
  /// If it is true, every value is copied to the host as soon as it is there, and the bytes behind
  /// it are guarded. If not, only outputs are copied.
  bool observe_all = true;
  /// This many runs are measured.
  uint32_t measured_runs = 0;
  Measured measured = Measured::Ops;  // Whole: neither spans nor the rates of copies
  uint32_t most_nodes = kMostNodes;   // of a graph of the driver
  /// If given, cuBLASLt does each dot_general that it can, adding in any order. It must outlive the
  /// run.
  const CublasLt* cublaslt = nullptr;
  std::optional<OmittedCause> omitted_cause = {};  // an error that tests plant
};

struct GpuRun {
  /// The values that the host executor has too, as far as they were observed, and the arguments.
  DeviceValues values;
  WalkDigest digest;
  CauseCounts causes = {};  // of the schedules and lists
  GpuFacts facts;
};

/// Runs a program. `arguments` has the program's arguments on every device. Requires a program that
/// ends, with its loops written out. Throws CudaError, CublasLtError and UnfitGpu.
GpuRun execute(const Driver& driver, const Program& program, const Lowered& lowered,
               const MemoryPolicy& policy, const MemoryProfile& profile, DeviceValues arguments,
               const ExecutorOptions& options);

}  // namespace orrery::cuda
