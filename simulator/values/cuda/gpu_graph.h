#pragma once

// A GpuGraph is a work graph as graphs of the driver.
//
// A work graph of up to kMostNodes nodes becomes one graph. In a larger one, each iteration of an
// outermost loop becomes a part with a graph of its own. Equal parts are made once and launched
// again and again. Nodes keep their edges inside a part; earlier parts have ended by then.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "models/program/program.h"
#include "simulator/values/cuda/driver/gpu.h"
#include "simulator/values/cuda/driver/graph.h"
#include "simulator/values/cuda/driver/kernel_module.h"
#include "simulator/values/cuda/driver/stream.h"
#include "simulator/values/cuda/fast_products.h"
#include "simulator/values/cuda/kernels/kernels.h"
#include "simulator/values/cuda/work_graph.h"
#include "simulator/values/gpu_facts.h"

namespace orrery::cuda {

/// One graph has at most this many nodes, which take about a second to make.
inline constexpr uint32_t kMostNodes = 100'000;

struct GraphParts {
  std::vector<std::vector<WorkId>> parts;  // each ascending; no two are equal
  std::vector<uint32_t> launches;          // the order in which they run
};

/// Divides a work graph into parts. A node waits only for nodes of its own or an earlier part.
GraphParts graph_parts(const WorkGraph& graph, const Program& program,
                       uint32_t most_nodes = kMostNodes);

/// Returns the launch of a kernel on a GPU, whose module is `module`. It has enough threads to hide
/// the latency of memory; if there are more items, each thread loops. The launch refers to the
/// call's argument. Throws CudaError.
KernelLaunch launch_of(const KernelCall& call, const Gpu& gpu, KernelModule& module);

class GpuGraph {
 public:
  /// `modules` has one for each GPU. `products` is needed if the work has any. Throws CudaError and
  /// CublasLtError.
  GpuGraph(const WorkGraph& work, const Program& program, const Gpus& gpus,
           std::vector<std::unique_ptr<KernelModule>>& modules, Measured measured,
           uint32_t most_nodes = kMostNodes, const FastProducts* products = nullptr);

  void launch(const Stream& stream) const;

  /// These return the numbers of graphs of the driver and of launches.
  size_t graphs() const { return parts_.size(); }
  size_t launches() const { return launches_.size(); }

  /// Returns when each measured work began and ended. `starts` has a moment of each GPU, from which
  /// its times count, since moments of two GPUs are not compared. Requires a launch that has ended.
  std::map<TimedWork, MeasuredSpan> spans(std::span<const Event> starts) const;

 private:
  struct Events {
    Event begin;
    Event end;
  };

  size_t devices_;
  std::vector<GraphExec> parts_;
  std::vector<uint32_t> launches_;  // the parts, in order
  std::map<TimedWork, Events> events_;
};

}  // namespace orrery::cuda
