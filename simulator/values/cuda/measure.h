#pragma once

// Measures what the GPUs here do with data, for a cluster that stands for them: every kind of work
// in several sizes, by one virtual device alone and by several at once.

#include <cstdint>
#include <vector>

#include "models/array/dtype.h"
#include "models/base/quantity.h"
#include "simulator/values/cuda/driver/gpus.h"

namespace orrery::cuda {

enum class WorkKind : uint8_t {
  Copy,         // in the memory of a GPU
  PeerCopy,     // from the memory of GPU 0 to that of GPU 1
  Combine,      // of two messages
  Pack,         // a copy of rows that lie in another order
  Elementwise,  // add
  Dot,          // dot_general, in the stated order
};

/// Nodes of one kind: kernels that work on f32, but for Dot.
struct MeasuredWork {
  WorkKind kind = WorkKind::Copy;
  Dtype dtype = Dtype::F32;
  uint32_t at_once = 1;  // so many virtual devices of one GPU do the same
  /// Of one node: what it copies, packs or combines (of one operand); of Elementwise what it reads
  /// and writes; of Dot nothing, but its flops.
  Bytes bytes;
  Flops flops = {};
  Duration node;  // from the end of one to the end of the next (NodeTimer)
  friend bool operator==(const MeasuredWork&, const MeasuredWork&) = default;
};

struct GpuMeasurements {
  int driver = 0;  // 1000 times the major number of CUDA, and 10 times the minor one
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
/// devices are 1, 2, and all of a GPU. On several GPUs the first is measured, which stands for all.
/// Throws CudaError, and UnfitGpu.
GpuMeasurements measure(const Driver& driver, const MeasureOptions& options);

}  // namespace orrery::cuda
