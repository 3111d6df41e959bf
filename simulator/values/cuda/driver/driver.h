#pragma once

// This folder loads the driver of CUDA, and cuBLASLt, at run time. Neither is linked, and nothing
// but a driver is needed.
//
// How this folder works: cuda_api.h and cublaslt_api.h declare what we call. entry_point.h makes
// calls that throw. Every other class owns one kind of thing of the driver and gives it back at its
// end: Gpu its primary context, DeviceArena and PinnedMemory memory, Stream, Event, KernelModule,
// Graph and GraphExec what their names say, Matmul a product by cuBLASLt. Each keeps a pointer to
// its Gpu, which must outlive it. One host thread makes all calls and owns the objects.
//
// A call that fails throws CudaError or CublasLtError, with the name of the function, the name and
// number of the code, and what was wanted. Where a failure is an answer, as for a GPU that lacks a
// feature, the caller takes the code instead (EntryPoint::operator()). Tests put a mock of the
// driver in its place (tests/support/mock_cuda), which runs the same kernels on the host.

#include <string>
#include <variant>

#include "simulator/values/cuda/driver/cublaslt_api.h"
#include "simulator/values/cuda/driver/cuda_api.h"
#include "simulator/values/cuda/driver/entry_point.h"

namespace orrery::cuda {

/// A Driver has the entry points of the driver, called as `driver.cuStreamCreate.must("...",
/// &stream, flags)`. The library stays loaded until the process ends.
struct Driver {
  // NOLINTBEGIN(bugprone-macro-parentheses): a declaration
#define ORRERY_CUDA_MEMBER(name, exported, parameters) EntryPoint<CUresult parameters> name{#name};
  ORRERY_CUDA_ENTRY_POINTS(ORRERY_CUDA_MEMBER)
#undef ORRERY_CUDA_MEMBER
  // NOLINTEND(bugprone-macro-parentheses)

  int version = 0;  // 1000 times the major number of CUDA, plus 10 times the minor one
};

/// A MissingDriver says in one line why there is no driver to run on.
struct MissingDriver {
  std::string reason;
};

/// The dynamic linker looks for this name.
inline constexpr const char* kDriverLibrary = "libcuda.so.1";
/// This environment variable names another file; the terminal reads it.
inline constexpr const char* kDriverLibraryVariable = "ORRERY_LIBCUDA";

/// Loads `library`, initialises it, and checks that it has a GPU.
std::variant<Driver, MissingDriver> load_driver(const std::string& library = kDriverLibrary);

/// A CublasLt has the entry points of cuBLASLt, NVIDIA's library of matrix products. The library
/// stays loaded until the process ends.
struct CublasLt {
  // NOLINTBEGIN(bugprone-macro-parentheses): a declaration
#define ORRERY_CUBLASLT_MEMBER(name, parameters) EntryPoint<cublasStatus_t parameters> name{#name};
  ORRERY_CUBLASLT_ENTRY_POINTS(ORRERY_CUBLASLT_MEMBER)
#undef ORRERY_CUBLASLT_MEMBER
  // NOLINTEND(bugprone-macro-parentheses)
};

/// A MissingCublasLt says in one line why there is no cuBLASLt.
struct MissingCublasLt {
  std::string reason;
};

/// The names in CUDA 13 and 12. The dynamic linker takes the first that is there.
inline constexpr const char* kCublasLtLibraries[] = {"libcublasLt.so.13", "libcublasLt.so.12"};
/// This environment variable names another file; the terminal reads it.
inline constexpr const char* kCublasLtLibraryVariable = "ORRERY_LIBCUBLASLT";

/// Loads `library`; if that is empty, the first of kCublasLtLibraries that is there.
std::variant<CublasLt, MissingCublasLt> load_cublaslt(const std::string& library = {});

}  // namespace orrery::cuda
