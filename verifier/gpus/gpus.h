#pragma once

// A scenario's run on GPUs, beside the modelled one.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "models/scenario/scenario.h"
#include "simulator/values/cuda/executor.h"

namespace orrery {

struct GpuOptions {
  std::string library = cuda::kDriverLibrary;
  uint32_t measured_runs = 5;  // after the one whose values are taken
  cuda::Measured measured = cuda::Measured::Ops;
  /// Whether dot_general is done by cuBLASLt where it can be, in any order of adding.
  bool fast_dot = false;
  std::string cublaslt = {};  // its file; empty: that of the system
};

/// Why nothing can run on GPUs. what() is one line.
class NoGpus : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The GPUs that are there have too little memory for one scenario; others may run.
class TooLittleGpuMemory : public NoGpus {
 public:
  using NoGpus::NoGpus;
};

/// Why --fast-dot is not possible. what() is one line.
class NoFastDot : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws NoGpus where the driver or a GPU is missing.
cuda::Driver loaded_driver(const std::string& library);
/// Throws NoFastDot where it is missing.
cuda::CublasLt loaded_cublaslt(const std::string& library);

/// Why the scenario does not run on GPUs, though it runs here: "a device holds more than its
/// memory". `leaves_out`: iterations of its loops.
std::optional<std::string> why_not_on_gpus(const Scenario& scenario, const MemoryProfile& memory,
                                           bool leaves_out);

/// `arguments`: on every device, or empty where no data is moved; then nothing is observed.
/// Requires a scenario that runs there. Throws NoGpus, NoFastDot, CudaError, CublasLtError and
/// cuda::UnfitGpu.
cuda::GpuRun run_on_gpus(const Scenario& scenario, const Lowered& lowered,
                         const MemoryProfile& memory, std::optional<DeviceValues> arguments,
                         const GpuOptions& options);

}  // namespace orrery
