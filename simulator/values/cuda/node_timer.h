#pragma once

// How long nodes of graphs take: for the rates and latencies of a GPU.

#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "simulator/values/cuda/driver/gpus.h"
#include "simulator/values/cuda/driver/graph.h"
#include "simulator/values/cuda/driver/kernel_module.h"
#include "simulator/values/cuda/work_graph.h"

namespace orrery::cuda {

/// Work that is done again and again by one GPU, each time after the time before. Lanes of one
/// measurement run at the same time.
struct Lane {
  size_t gpu = 0;
  std::variant<KernelCall, Copy> work;
};

/// Keeps references to its arguments.
class NodeTimer {
 public:
  /// `modules`: one for each GPU; none where no kernel is timed. Throws CudaError.
  NodeTimer(const Gpus& gpus, std::vector<std::unique_ptr<KernelModule>>& modules);

  /// From the end of a node to the end of the next one of its lane: the time that a graph takes
  /// with kNodes more nodes in each lane, divided by kNodes, rounded down. Each time is the median
  /// of kRuns runs. 0 where the driver's clock sees no difference. Requires lanes. Throws
  /// CudaError.
  Duration node(std::span<const Lane> lanes) const;

  /// From before the launch of a graph whose only node does nothing to its end: the median of kRuns
  /// runs. Throws CudaError.
  Duration launch() const;

  static constexpr int kNodes = 8;
  static constexpr int kRuns = 5;

 private:
  /// After one run that is not counted.
  Duration median(const Graph& graph) const;
  Duration chains(std::span<const Lane> lanes, int nodes) const;

  const Gpus& gpus_;
  std::vector<std::unique_ptr<KernelModule>>& modules_;
  Stream stream_;
};

}  // namespace orrery::cuda
