#pragma once

// Fits a latency and a rate to measured nodes of GPU work, makes the cluster that stands for
// virtual devices on these GPUs (gpu_cluster.cc), and the text of `orrery calibrate cuda`. Nothing
// here knows a driver.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/array/dtype.h"
#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "simulator/values/cuda/measure.h"
#include "tools/report/style.h"

namespace orrery {

/// This is the fit of one kind of work that `at_once` virtual devices of a GPU do at once. A node
/// takes latency + amount / rate. Amounts are bytes, and flops for Dot.
struct GpuFit {
  cuda::WorkKind kind = cuda::WorkKind::Copy;
  Dtype dtype = Dtype::F32;
  uint32_t at_once = 1;
  Duration latency;   // three digits
  int64_t rate = 1;   // amount per second of each virtual device; three digits
  int64_t least = 0;  // of the amounts that were measured
  int64_t most = 0;
  /// The value of modelled / measured - 1 for each amount, in their order.
  std::vector<double> errors;

  double mean_error() const;   // the mean of absolute values
  double worst_error() const;  // the one that is furthest from 0
};

/// Returns a fit for each kind, dtype and number at once, in the order in which they first come.
///
/// It minimises the squares of relative errors. The least amount determines the latency, and
/// amounts from a sixteenth of the most on determine the rate. Amounts between them may fit a GPU's
/// caches: nothing is fitted to them, but their errors are told. A latency is at least 0. Throws
/// InputError if times do not grow with amounts, or if the line is twice or half of a time that it
/// is fitted to.
std::vector<GpuFit> fit_gpu_works(std::span<const cuda::MeasuredWork> works);

/// Returns the kind of work in words: "copy", "dot_general f32".
std::string kind_name(const GpuFit& fit);

/// Returns the kind and the number at once: "copy by 8 virtual devices at once".
std::string name_of(const GpuFit& fit);

/// Returns an amount of the kind: "256 MiB", "268 MFLOP". rate_text() returns a rate: "1.5 TB/s".
std::string amount_text(const GpuFit& fit, int64_t amount);
std::string rate_text(const GpuFit& fit, int64_t rate);

/// Returns the text of `orrery calibrate cuda`: the GPUs, the fits with their errors, and the
/// launch of a graph.
std::string gpu_calibration_text(const cuda::GpuMeasurements& measured,
                                 std::span<const GpuFit> fits, const Style& style);

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
