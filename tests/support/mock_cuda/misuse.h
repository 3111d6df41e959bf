#pragma once

// These are the exceptions by which the mock's code makes a call to the driver fail.

#include <stdexcept>
#include <string>

#include "simulator/values/cuda/driver/cuda_api.h"

namespace orrery::mock_cuda {

/// A `Misuse` is thrown inside the mock: the call returns the code, and the log keeps the text.
class Misuse : public std::runtime_error {
 public:
  Misuse(cuda::CUresult code, const std::string& text) : std::runtime_error(text), code_(code) {}

  cuda::CUresult code() const { return code_; }

 private:
  cuda::CUresult code_;
};

/// A `Refusal` is thrown inside the mock for an error that is no misuse, such as out of memory.
struct Refusal {
  cuda::CUresult code;
};

}  // namespace orrery::mock_cuda
