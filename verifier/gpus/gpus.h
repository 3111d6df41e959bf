#pragma once

// A scenario's run on GPUs, beside the modelled one. The front door (run.h) includes gpu_options.h
// alone: its users need no header of CUDA.

#include <optional>
#include <string>

#include "models/scenario/scenario.h"
#include "simulator/values/cuda/driver/entry_point.h"
#include "simulator/values/cuda/executor.h"
#include "verifier/gpus/gpu_options.h"

namespace orrery {

/// Empty: that of the system. Throws NoGpus where the driver or a GPU is missing.
cuda::Driver loaded_driver(const std::string& library);
/// Empty: that of the system. Throws NoFastDot where it is missing.
cuda::CublasLt loaded_cublaslt(const std::string& library);

/// "the driver failed in cuMemCreate: ...", for NoGpus.
std::string driver_failed(const cuda::CudaError& error);

/// Why the scenario does not run on GPUs though it runs here ("a device holds more than its
/// memory"); empty if it does. `leaves_out` says whether iterations of its loops are left out.
std::optional<std::string> why_not_on_gpus(const Scenario& scenario, const MemoryProfile& memory,
                                           bool leaves_out);

/// `arguments` has the program's arguments on every device. It is empty if no data is moved; then
/// no values are observed. Requires a scenario that runs on GPUs. Throws NoGpus, NoFastDot,
/// CudaError, CublasLtError and cuda::UnfitGpu.
cuda::GpuRun run_on_gpus(const Scenario& scenario, const Lowered& lowered,
                         const MemoryProfile& memory, std::optional<DeviceValues> arguments,
                         const GpuOptions& options);

}  // namespace orrery
