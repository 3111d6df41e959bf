#pragma once

// These kernels exist in the mock alone, for tests that need any kernel.

#include <cstdint>
#include <string_view>

#include "simulator/values/cuda/kernels/kernels.h"

namespace orrery::mock_cuda {

/// "mock_append" replaces each number by ten times itself plus `digit`. Two such kernels in the
/// other order give another number.
struct AppendDigit {
  uint64_t target;  // address of uint64_t
  int64_t items;
  uint64_t digit;
};

/// "mock_add" sets target[i] = left[i] + right[i].
struct AddNumbers {
  uint64_t target;
  uint64_t left;
  uint64_t right;
  int64_t items;
};

/// "mock_first" stores the index of the item that runs first, if the target is all ones before.
struct FirstItem {
  uint64_t target;  // address of one uint64_t
  int64_t items;
};

/// Returns the kernel with this name, or null if there is none.
const cuda::HostKernel* test_kernel(std::string_view entry_point);

/// This text takes the place of PTX that has these kernels.
inline constexpr std::string_view kTestPtx =
    ".version 7.0\n.visible .entry mock_append(\n.visible .entry mock_add(\n"
    ".visible .entry mock_first(\n"
    ".visible .entry mock_unknown(\n";

}  // namespace orrery::mock_cuda
