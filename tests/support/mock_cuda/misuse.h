#pragma once

// Errors of calls to the driver, and how the mock answers them.

#include <stdexcept>
#include <string>

#include "simulator/values/cuda/driver/cuda_api.h"

namespace orrery::mock_cuda {

/// Thrown inside the mock: the call answers with the code, and the text is written down.
class Misuse : public std::runtime_error {
 public:
  Misuse(cuda::CUresult code, const std::string& text) : std::runtime_error(text), code_(code) {}

  cuda::CUresult code() const { return code_; }

 private:
  cuda::CUresult code_;
};

/// Thrown inside the mock: an answer that is no misuse, such as out of memory.
struct Refusal {
  cuda::CUresult code;
};

}  // namespace orrery::mock_cuda
