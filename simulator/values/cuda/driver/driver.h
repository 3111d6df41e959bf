#pragma once

// The driver's library, loaded while we run: nothing is linked, and nothing but a driver is needed.
//
// One host thread calls it; the objects of this folder belong to that thread.

#include <string>
#include <variant>

#include "simulator/values/cuda/driver/entry_point.h"
#include "simulator/values/cuda/driver/entry_points.h"

namespace orrery::cuda {

/// The entry points, as `driver.cuStreamCreate.must("...", &stream, flags)`. The library stays
/// loaded until the process ends.
struct Driver {
  // NOLINTBEGIN(bugprone-macro-parentheses): a declaration
#define ORRERY_CUDA_MEMBER(name, exported, parameters) EntryPoint<CUresult parameters> name{#name};
  ORRERY_CUDA_ENTRY_POINTS(ORRERY_CUDA_MEMBER)
#undef ORRERY_CUDA_MEMBER
  // NOLINTEND(bugprone-macro-parentheses)

  int version = 0;  // 1000 times the major number of CUDA, and 10 times the minor one
};

/// Why there is no driver to run on: one line.
struct MissingDriver {
  std::string reason;
};

/// What the dynamic linker looks for.
inline constexpr const char* kDriverLibrary = "libcuda.so.1";
/// The environment variable that names another file; the terminal reads it.
inline constexpr const char* kDriverLibraryVariable = "ORRERY_LIBCUDA";

/// Loads `library`, initialises it, and sees that it has a GPU.
std::variant<Driver, MissingDriver> load_driver(const std::string& library = kDriverLibrary);

}  // namespace orrery::cuda
