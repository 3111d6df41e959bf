#pragma once

// GpuFacts describes a run on GPUs as plain data. Reports keep it, and reading it needs nothing of
// CUDA. simulator/values/cuda makes such runs.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/base/id.h"
#include "models/base/quantity.h"
#include "simulator/schedule/schedule.h"

namespace orrery::cuda {

/// A GpuInfo describes a physical GPU.
struct GpuInfo {
  int device = 0;    // its number among those visible
  std::string name;  // "NVIDIA H100 80GB HBM3"
  int major = 0;     // of the compute capability
  int minor = 0;
  std::string uuid;  // "GPU-f3a1...", as nvidia-smi writes it
  Bytes memory;      // in all
  int multiprocessors = 0;
  bool virtual_memory = false;  // whether an arena can be made on it
};

/// Returns the GPU of a virtual device: `devices` of them are spread in order over `gpus` GPUs.
inline size_t gpu_of(LogicalId device, size_t devices, size_t gpus) {
  return device.index() * gpus / devices;
}

/// A DeviceUse is the memory of a virtual device.
struct DeviceUse {
  size_t gpu = 0;
  Bytes arena;   // the end of the last byte that was given an address in it
  Bytes beside;  // messages in flight, and what has no room in the arena
};

/// DotFacts says which dot_general ops cuBLASLt did.
struct DotFacts {
  std::vector<OpId> by_cublaslt;
  std::map<std::string, uint32_t> in_order;  // the other ops: their number, by reason
};

/// A PartOf names the op that work on a GPU belongs to, and in a collective also the step.
struct PartOf {
  OpId op;
  std::optional<StepRef> step = {};
  friend auto operator<=>(const PartOf&, const PartOf&) = default;
};

/// A TimedWork is work whose begin and end are measured.
struct TimedWork {
  LogicalId device;
  PartOf part;
  friend auto operator<=>(const TimedWork&, const TimedWork&) = default;
};

/// Measured says which parts are measured. There are none in the graph that tells how long the
/// whole takes, since measuring a part takes time itself.
enum class Measured : uint8_t { Whole, Ops, Steps };

/// A MeasuredSpan says when measured work began and ended, from the start of the run on its GPU.
struct MeasuredSpan {
  Duration begin;
  Duration end;
};

/// CopyRates has the rates at which GPUs copy, rounded down. They count each copied byte once,
/// though it is both read and written.
struct CopyRates {
  std::vector<BytesPerSecond> in_gpu;     // of each GPU, in its memory; 0: too fast for the clock
  std::optional<BytesPerSecond> to_next;  // from the memory of GPU 0 to that of GPU 1, if any
  Bytes size;                             // of each copy
};

struct Measurement {
  std::vector<Duration> runs;               // of the whole, one after another
  std::map<TimedWork, MeasuredSpan> spans;  // of one more run, if asked for
  /// Per collective op: the bytes that its work reads and writes on all devices.
  std::map<OpId, Bytes> moved;
  std::optional<CopyRates> copies;  // of the same GPUs, after the runs
};

/// GpuFacts describes a run on GPUs, apart from its values.
struct GpuFacts {
  int driver = 0;  // 1000 times the major number of CUDA, plus 10 times the minor one
  std::vector<GpuInfo> gpus;
  std::vector<DeviceUse> memory;      // per virtual device
  uint32_t nodes = 0;                 // of what is measured, if anything is
  size_t graphs = 0;                  // of the driver
  size_t launches = 0;                // of them
  std::optional<DotFacts> dots;       // where cuBLASLt was to do them
  std::optional<std::string> damage;  // what was written outside of its place
  std::optional<Measurement> measurement;
};

}  // namespace orrery::cuda
