#pragma once

// This folder connects a modelled run (run.h) with a run of the same scenario on GPUs. The front
// door (run.h) includes gpu_options.h alone, so that its users need no header of CUDA.
//  1. run() loads the driver, and cuBLASLt if it is asked for, before anything else. So a missing
//     library is reported at once (loaded_driver, loaded_cublaslt).
//  2. The scenario is modelled, and its values are computed on the host.
//  3. why_not_on_gpus() refuses a scenario that leaves out iterations, or whose device holds more
//     than its memory. The report then has a label instead of a run.
//  4. run_on_gpus() passes the lowered program, the memory profile and the arguments to the
//     executor (simulator/values/cuda/executor.h). It runs N virtual devices over the GPUs that are
//     there.
//  5. The checks in agreement.cc compare the two runs: values, bytes used in arenas, and guard
//     bytes. Values of dot_general by cuBLASLt, and those that depend on them, are compared by
//     error bounds.
//  6. The report then has the values and measurements of the GPUs. Its times stay the modelled
//     ones.
// run_on_gpus() throws the exceptions of the driver, and run() translates them.

#include <optional>
#include <span>
#include <string>

#include "models/scenario/scenario.h"
#include "simulator/values/cuda/driver/entry_point.h"
#include "simulator/values/cuda/executor.h"
#include "verifier/gpus/gpu_options.h"
#include "verifier/report.h"

namespace orrery {

/// Loads the driver from this file; an empty name means that of the system. Throws NoGpus where the
/// driver or a GPU is missing.
cuda::Driver loaded_driver(const std::string& library);
/// Loads cuBLASLt from this file; an empty name means that of the system. Throws NoFastDot where it
/// is missing.
cuda::CublasLt loaded_cublaslt(const std::string& library);

/// Returns "the driver failed in cuMemCreate: ...", for GpuFailure.
std::string driver_failed(const cuda::CudaError& error);

/// Returns why the scenario does not run on GPUs though it runs here ("a device holds more than its
/// memory"); empty if it does. `leaves_out` says whether iterations of its loops are left out.
std::optional<std::string> why_not_on_gpus(const Scenario& scenario, const MemoryProfile& memory,
                                           bool leaves_out);

/// Runs the scenario on GPUs. `arguments` has the program's arguments on every device. If it is
/// empty, no data is moved and no values are observed. Requires a scenario that runs on GPUs.
/// Throws NoGpus, NoFastDot, CudaError, CublasLtError and cuda::UnfitGpu.
cuda::GpuRun run_on_gpus(const Scenario& scenario, const Lowered& lowered,
                         const MemoryProfile& memory, std::optional<DeviceValues> arguments,
                         const GpuOptions& options);

/// Checks that every value that an op makes on the GPUs is the host's, bit for bit, on every device
/// (VALUES.GPUS). A value that depends on one of `products`, the ops that cuBLASLt did, may differ
/// within the error bounds of both sides (verifier/definition/bounds.h). A check that fails names
/// the first value that differs, with the element. The check is undecided if an element without a
/// known bound differs, such as a comparison of floats that are nearer to each other than their
/// errors. It is also undecided if the bounds decide no element of a value that differs.
Check gpu_values_agree(const Program& program, const Lowered& lowered, const DeviceValues& host,
                       const DeviceValues& gpus, std::span<const OpId> products = {});

/// Checks that each virtual device used as many bytes of its arena as the profile counts
/// (MEMORY.ARENA).
Check arenas_agree(const MemoryProfile& memory, const cuda::GpuFacts& facts);

/// Checks that nothing was written outside of its place (MEMORY.GUARDS).
Check guards_whole(const cuda::GpuFacts& facts);

}  // namespace orrery
