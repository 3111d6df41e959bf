#pragma once

// The mock in a process that does not know it: its settings come from the environment variable
// ORRERY_MOCK_CUDA, "devices=2,seed=7", by the names of MockCudaSettings. At the end of the process
// it tells on stderr what is still alive, and the misuses.

#include <string>
#include <string_view>

#include "tests/support/mock_cuda/mock_cuda.h"

namespace orrery::mock_cuda {

/// Throws std::invalid_argument where a name is unknown, or a value no number.
MockCudaSettings settings_of(std::string_view text);

/// Those of the environment; the usual ones without it.
MockCudaSettings settings_of_environment();
bool in_environment();

}  // namespace orrery::mock_cuda
