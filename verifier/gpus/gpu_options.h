#pragma once

// This header has the options of a run on GPUs, and the exceptions that say why there is none.

#include <cstdint>
#include <stdexcept>
#include <string>

#include "simulator/values/gpu_facts.h"

namespace orrery {

/// The options of a run on GPUs, which is done beside the modelled run (docs/cuda.md).
struct GpuOptions {
  std::string library = {};    // the file of the driver; empty: that of the system
  uint32_t measured_runs = 5;  // after the one whose values are taken
  cuda::Measured measured = cuda::Measured::Ops;
  /// Whether cuBLASLt does each dot_general that it can, in any order of adding.
  bool fast_dot = false;
  std::string cublaslt = {};  // the file of cuBLASLt; empty: that of the system
};

/// This exception says why nothing can run on GPUs, or what failed there. what() is one line.
class NoGpus : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The GPUs have too little memory for one scenario; other scenarios may run.
class TooLittleGpuMemory : public NoGpus {
 public:
  using NoGpus::NoGpus;
};

/// The driver failed while the scenario ran on the GPUs.
class GpuFailure : public NoGpus {
 public:
  using NoGpus::NoGpus;
};

/// This exception says why GpuOptions::fast_dot is not possible, or what failed in cuBLASLt. what()
/// is one line.
class NoFastDot : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace orrery
