#pragma once

// Kernels of the mock's own, for tests that need any.

#include <cstdint>
#include <string_view>

#include "simulator/values/cuda/kernels/kernels.h"

namespace orrery::mock_cuda {

/// "mock_append": each of the numbers becomes ten times itself and `digit`. Two of them in the
/// other order give another number.
struct AppendDigit {
  uint64_t target;  // uint64_t each
  int64_t items;
  uint64_t digit;
};

/// "mock_add": target[i] = left[i] + right[i].
struct AddNumbers {
  uint64_t target;
  uint64_t left;
  uint64_t right;
  int64_t items;
};

/// "mock_first": the number of the item that comes first, where the target is all ones.
struct FirstItem {
  uint64_t target;  // one uint64_t
  int64_t items;
};

/// Null: there is none of that name.
const cuda::HostKernel* test_kernel(std::string_view entry_point);

/// A text in the place of PTX that has these kernels.
inline constexpr std::string_view kTestPtx =
    ".version 7.0\n.visible .entry mock_append(\n.visible .entry mock_add(\n"
    ".visible .entry mock_first(\n"
    ".visible .entry mock_unknown(\n";

}  // namespace orrery::mock_cuda
