#pragma once

// The cluster that stands for virtual devices on GPUs, made from what was measured and fitted
// there.

#include <span>
#include <string>

#include "models/fabric/fabric.h"
#include "tools/calibrate/gpu_fit.h"

namespace orrery {

/// The cluster as docs/cuda.md describes it ("The cluster file"):
///  - Virtual devices of a GPU share its memory: what they send each other crosses one link.
///  - Work inside a virtual device has the rate that it has while all of the GPU do the same.
///  - Messages are copied into a slot and out of it, by three protocols: "graph" where each rank
///  takes
///    one message after another, "graph_at_once" and "graph_broadcast" where it takes several at
///    once.
/// `fits` are of `measured`; `date` is that of the figures' sources. Requires fits of each kind by
/// all virtual devices of a GPU at once, and of copies by one.
Cluster gpu_cluster(const cuda::GpuMeasurements& measured, std::span<const GpuFit> fits,
                    const std::string& date);

/// The number of virtual devices on the GPU that has most.
uint32_t most_on_a_gpu(const cuda::GpuMeasurements& measured);

}  // namespace orrery
