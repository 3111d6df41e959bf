#pragma once

// cuBLASLt, loaded while we run, as the driver is: NVIDIA's library of matrix products.

#include <string>
#include <variant>

#include "simulator/values/cuda/driver/cublaslt_types.h"
#include "simulator/values/cuda/driver/entry_point.h"

namespace orrery::cuda {

/// The entry points. The library stays loaded until the process ends.
struct CublasLt {
  // NOLINTBEGIN(bugprone-macro-parentheses): a declaration
#define ORRERY_CUBLASLT_MEMBER(name, parameters) EntryPoint<cublasStatus_t parameters> name{#name};
  ORRERY_CUBLASLT_ENTRY_POINTS(ORRERY_CUBLASLT_MEMBER)
#undef ORRERY_CUBLASLT_MEMBER
  // NOLINTEND(bugprone-macro-parentheses)
};

/// Why there is none: one line.
struct MissingCublasLt {
  std::string reason;
};

/// What the dynamic linker looks for, the first that is there: those of CUDA 13 and 12.
inline constexpr const char* kCublasLtLibraries[] = {"libcublasLt.so.13", "libcublasLt.so.12"};
/// The environment variable that names another file; the terminal reads it.
inline constexpr const char* kCublasLtLibraryVariable = "ORRERY_LIBCUBLASLT";

/// Loads `library`; if it is empty, the first of kCublasLtLibraries.
std::variant<CublasLt, MissingCublasLt> load_cublaslt(const std::string& library = {});

}  // namespace orrery::cuda
