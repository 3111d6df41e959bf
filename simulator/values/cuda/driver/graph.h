#pragma once

// Work whose order is given by edges: built once, launched many times.

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
  /// The graph of what `give` gives to the stream, which does not run there. Requires that the
  /// stream has nothing else to do. Throws CudaError, and what `give` throws.
  static Graph captured(const Stream& stream, const std::function<void()>& give);

  CUgraph get() const { return graph_.get(); }
  const Driver& driver() const { return *driver_; }
  /// How many nodes were added.
  size_t node_count() const { return node_count_; }

  // Each node begins when all nodes of `after` have ended; none is named twice there. The data that
  // the arguments point to are copied. They throw CudaError.

  GraphNode add_kernel(const KernelLaunch& launch, std::span<const GraphNode> after);
  /// Copies between any two arenas that `gpu` sees, which does the work. Requires size > 0.
  GraphNode add_copy(const Gpu& gpu, CUdeviceptr to, CUdeviceptr from, Bytes size,
                     std::span<const GraphNode> after);
  /// Sets every byte. Requires size > 0.
  GraphNode add_fill(const Gpu& gpu, CUdeviceptr to, Bytes size, std::byte value,
                     std::span<const GraphNode> after);
  /// Does nothing: waits for several, so that others need to wait for one only.
  GraphNode add_join(std::span<const GraphNode> after);
  /// Takes the moment.
  GraphNode add_record(const Event& event, std::span<const GraphNode> after);
  /// Does all that `child` does, of which it is a copy, as one node.
  GraphNode add_child(const Graph& child, std::span<const GraphNode> after);

 private:
  Graph(const Driver& driver, CUgraph graph)
      : driver_(&driver), graph_(driver.cuGraphDestroy, graph) {}

  const Driver* driver_;
  Owned<CUgraph> graph_;
  size_t node_count_ = 0;
};

/// A graph that can run. It needs what its nodes use, and not the Graph any more.
class GraphExec {
 public:
  /// Throws CudaError.
  explicit GraphExec(const Graph& graph);

  CUgraphExec get() const { return exec_.get(); }

  /// Runs the whole after what was given to `stream` before. The runs of one GraphExec do not
  /// overlap. Throws CudaError; what fails later, the stream's synchronisation throws.
  void launch(const Stream& stream) const;

 private:
  const Driver* driver_;
  Owned<CUgraphExec> exec_;
};

}  // namespace orrery::cuda
