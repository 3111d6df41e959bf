#pragma once

// Controls the mock in a process that does not know that its driver is a mock. The environment
// variable ORRERY_MOCK_CUDA holds the settings by the names of MockCudaSettings:
// "devices=2,seed=7". When the process ends, the mock prints on stderr which objects are still
// alive, and the misuses.

#include <string>
#include <string_view>

#include "tests/support/mock_cuda/mock_cuda.h"

namespace orrery::mock_cuda {

/// Throws std::invalid_argument where a name is unknown or a value is not a number.
MockCudaSettings settings_of(std::string_view text);

/// Returns the settings in the environment variable, or the defaults if it is not set.
MockCudaSettings settings_of_environment();
bool in_environment();

}  // namespace orrery::mock_cuda
