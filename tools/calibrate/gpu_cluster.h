#pragma once

// Makes the cluster that stands for virtual devices on GPUs, from times that were measured and
// fitted there.

#include <span>
#include <string>

#include "models/fabric/fabric.h"
#include "tools/calibrate/gpu_fit.h"

namespace orrery {

/// Returns the cluster as docs/cuda.md describes it ("The cluster file"):
///  - Virtual devices of a GPU share its memory: all messages between them cross one link.
///  - Work inside a virtual device has the rate that it has while all virtual devices of the GPU do
///    the same.
///  - Messages are copied into a slot and out of it, by three protocols. In "graph" each rank takes
///    one message after another. In "graph_at_once" and "graph_broadcast" it takes several at once.
/// `fits` are of `measured`; `date` is that of the figures' sources. Requires fits of each kind by
/// all virtual devices of a GPU at once, and of copies by one.
Cluster gpu_cluster(const cuda::GpuMeasurements& measured, std::span<const GpuFit> fits,
                    const std::string& date);

/// Returns the number of virtual devices on the GPU that has most.
uint32_t most_on_a_gpu(const cuda::GpuMeasurements& measured);

}  // namespace orrery
