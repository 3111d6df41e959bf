#pragma once

// This file measures how fast the GPUs here work on data. measure() does every kind of work in
// several sizes, by one virtual device alone and by several at once, for a cluster that stands for
// these GPUs. copy_rates() returns the rates at which they copy, for reports to compare the bytes
// of an op with.
//
// A node is measured without its graph's launch: NodeTimer takes the time of a graph with one node
// and of one with kNodes more, and divides the difference.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "models/array/dtype.h"
#include "models/base/quantity.h"
#include "simulator/values/cuda/driver/gpu.h"
#include "simulator/values/cuda/driver/graph.h"
#include "simulator/values/cuda/driver/kernel_module.h"
#include "simulator/values/cuda/driver/stream.h"
#include "simulator/values/cuda/work_graph.h"
#include "simulator/values/gpu_facts.h"

namespace orrery::cuda {

/// A Lane is work that one GPU does again and again, one node after another. Lanes of one
/// measurement run at the same time.
struct Lane {
  size_t gpu = 0;
  std::variant<KernelCall, Copy> work;
};

/// It keeps references to its arguments.
class NodeTimer {
 public:
  /// `modules` has one for each GPU, or none if no kernel is timed. Throws CudaError.
  NodeTimer(const Gpus& gpus, std::vector<std::unique_ptr<KernelModule>>& modules);

  /// Returns the time from the end of a node to the end of the next one of its lane. It is the
  /// additional time of a graph with kNodes more nodes in each lane, divided by kNodes, rounded
  /// down. Each time is the median of kRuns runs. It is 0 if the driver's clock sees no difference.
  /// Requires lanes. Throws CudaError.
  Duration node(std::span<const Lane> lanes) const;

  /// Returns the time from before the launch of a graph whose only node does nothing to its end:
  /// the median of kRuns runs. Throws CudaError.
  Duration launch() const;

  static constexpr int kNodes = 8;
  static constexpr int kRuns = 5;

 private:
  /// Returns the median time of a graph's runs. The first run is not counted.
  Duration median(const Graph& graph) const;
  Duration chains(std::span<const Lane> lanes, int nodes) const;

  const Gpus& gpus_;
  std::vector<std::unique_ptr<KernelModule>>& modules_;
  Stream stream_;
};

/// Measures copies of 1/128 of what is free on the GPU with the least free memory, in whole 64 KiB,
/// at most 256 MiB. Returns nothing if that is less than 64 KiB. Throws CudaError.
std::optional<CopyRates> copy_rates(const Gpus& gpus);

enum class WorkKind : uint8_t {
  Copy,         // in the memory of a GPU
  PeerCopy,     // from the memory of GPU 0 to that of GPU 1
  Combine,      // of two messages
  Pack,         // a copy of rows that lie in another order
  Elementwise,  // add
  Dot,          // dot_general, in the stated order
};

/// MeasuredWork is nodes of one kind. Their kernels work on f32, except for Dot.
struct MeasuredWork {
  WorkKind kind = WorkKind::Copy;
  Dtype dtype = Dtype::F32;
  uint32_t at_once = 1;  // this many virtual devices of one GPU do the same
  /// The bytes that one node copies, packs or combines (of one operand); for Elementwise those that
  /// the node reads and writes; for Dot 0, since its flops count.
  Bytes bytes;
  Flops flops = {};
  Duration node;  // from the end of one to the end of the next (NodeTimer)
  friend bool operator==(const MeasuredWork&, const MeasuredWork&) = default;
};

struct GpuMeasurements {
  int driver = 0;  // 1000 times the major number of CUDA, plus 10 times the minor one
  std::vector<GpuInfo> gpus;
  uint32_t devices = 1;  // virtual ones
  std::vector<MeasuredWork> works;
  Duration launch;  // of a graph whose only node does nothing
};

struct MeasureOptions {
  uint32_t devices = 8;                  // virtual ones, over the GPUs that are there
  Bytes most = Bytes(int64_t{1} << 28);  // of a node; a multiple of 1024
};

/// Sizes grow by factors of 4 up to the most, from 4 KiB or a little more. Numbers of virtual
/// devices are 1, 2, and all of a GPU. If there are several GPUs, the first is measured, and stands
/// for all. Throws CudaError, and UnfitGpu.
GpuMeasurements measure(const Driver& driver, const MeasureOptions& options);

}  // namespace orrery::cuda
