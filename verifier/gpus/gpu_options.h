#pragma once

// The options of a run on GPUs, and why there may be none.

#include <cstdint>
#include <stdexcept>
#include <string>

#include "simulator/values/gpu_facts.h"

namespace orrery {

/// Options of a run on GPUs, which is done beside the modelled run (docs/cuda.md).
struct GpuOptions {
  std::string library = {};    // the file of the driver; empty: that of the system
  uint32_t measured_runs = 5;  // after the one whose values are taken
  cuda::Measured measured = cuda::Measured::Ops;
  /// Whether dot_general is done by cuBLASLt where it can be, in any order of adding.
  bool fast_dot = false;
  std::string cublaslt = {};  // the file of cuBLASLt; empty: that of the system
};

/// Why nothing can run on GPUs, or what failed there. what() is one line.
class NoGpus : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The GPUs that are there have too little memory for one scenario; others may run.
class TooLittleGpuMemory : public NoGpus {
 public:
  using NoGpus::NoGpus;
};

/// Why GpuOptions::fast_dot is not possible, or what failed in cuBLASLt. what() is one line.
class NoFastDot : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace orrery
