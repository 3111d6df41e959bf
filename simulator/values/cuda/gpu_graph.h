#pragma once

// A work graph as graphs of the driver.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "simulator/values/cuda/driver/event.h"
#include "simulator/values/cuda/driver/gpus.h"
#include "simulator/values/cuda/driver/graph.h"
#include "simulator/values/cuda/driver/kernel_module.h"
#include "simulator/values/cuda/fast_products.h"
#include "simulator/values/cuda/graph_parts.h"
#include "simulator/values/cuda/work_graph.h"

namespace orrery::cuda {

/// Which GPU each virtual device is on: N devices in order over G GPUs.
size_t gpu_of(LogicalId device, size_t devices, size_t gpus);

/// Work of which it is measured when it began and ended.
struct Timed {
  LogicalId device;
  PartOf part;
  friend auto operator<=>(const Timed&, const Timed&) = default;
};

/// Which work is measured: none for the graph that tells how long the whole takes, since taking a
/// moment takes time itself.
enum class Measured : uint8_t { Whole, Ops, Steps };

class GpuGraph {
 public:
  /// `modules`: one for each GPU. `products`: where the work has any. Throws CudaError and
  /// CublasLtError.
  GpuGraph(const WorkGraph& work, const Program& program, const Gpus& gpus,
           std::vector<std::unique_ptr<KernelModule>>& modules, Measured measured,
           uint32_t most_nodes = kMostNodes, const FastProducts* products = nullptr);

  void launch(const Stream& stream) const;

  /// How many graphs of the driver it is, and how many launches.
  size_t graphs() const { return parts_.size(); }
  size_t launches() const { return launches_.size(); }

  /// When each measured work began and ended, from `starts` on: a moment of each GPU, since those
  /// of two GPUs are not compared. Requires a launch that has ended.
  struct Span {
    Duration begin;
    Duration end;
  };
  std::map<Timed, Span> spans(std::span<const Event> starts) const;

 private:
  struct Events {
    Event begin;
    Event end;
  };

  size_t devices_;
  std::vector<GraphExec> parts_;
  std::vector<uint32_t> launches_;  // the parts, in order
  std::map<Timed, Events> events_;
};

}  // namespace orrery::cuda
