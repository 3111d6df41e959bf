#pragma once

// A Graph is work whose order is given by edges. It is built once and launched many times.

#include <cstddef>
#include <functional>
#include <span>

#include "models/base/quantity.h"
#include "simulator/values/cuda/driver/gpu.h"
#include "simulator/values/cuda/driver/kernel_module.h"
#include "simulator/values/cuda/driver/stream.h"

namespace orrery::cuda {

using GraphNode = CUgraphNode;

class Graph {
 public:
  /// Throws CudaError.
  explicit Graph(const Driver& driver);
  /// Returns the graph of the work that `give` gives to the stream, where it does not run. Requires
  /// that the stream has nothing else to do. Throws CudaError, and what `give` throws.
  static Graph captured(const Stream& stream, const std::function<void()>& give);

  CUgraph get() const { return graph_.get(); }
  const Driver& driver() const { return *driver_; }
  /// Returns how many nodes were added.
  size_t node_count() const { return node_count_; }

  // Each of these adds a node, which begins when all nodes of `after` have ended. `after` must name
  // each node once. The data that the arguments point to are copied. They throw CudaError.

  GraphNode add_kernel(const KernelLaunch& launch, std::span<const GraphNode> after);
  /// Copies between any two arenas that `gpu` sees; `gpu` does the work. Requires size > 0.
  GraphNode add_copy(const Gpu& gpu, CUdeviceptr to, CUdeviceptr from, Bytes size,
                     std::span<const GraphNode> after);
  /// Sets every byte. Requires size > 0.
  GraphNode add_fill(const Gpu& gpu, CUdeviceptr to, Bytes size, std::byte value,
                     std::span<const GraphNode> after);
  /// Does nothing but wait for several nodes, so that others need to wait only for this one.
  GraphNode add_join(std::span<const GraphNode> after);
  /// Records the moment in `event`.
  GraphNode add_record(const Event& event, std::span<const GraphNode> after);
  /// Does all that `child` does, as one node. `child` is copied.
  GraphNode add_child(const Graph& child, std::span<const GraphNode> after);

 private:
  Graph(const Driver& driver, CUgraph graph)
      : driver_(&driver), graph_(driver.cuGraphDestroy, graph) {}

  const Driver* driver_;
  Owned<CUgraph> graph_;
  size_t node_count_ = 0;
};

/// A GraphExec is a graph that can run. It needs what its nodes use, but no longer the Graph.
class GraphExec {
 public:
  /// Throws CudaError.
  explicit GraphExec(const Graph& graph);

  CUgraphExec get() const { return exec_.get(); }

  /// Runs the whole graph after what was given to `stream` before. The runs of one GraphExec do not
  /// overlap. Throws CudaError; the stream's synchronisation throws later failures.
  void launch(const Stream& stream) const;

 private:
  const Driver* driver_;
  Owned<CUgraphExec> exec_;
};

}  // namespace orrery::cuda
