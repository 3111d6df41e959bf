#pragma once

// A Terminal has the output streams of the command line, and what it takes from its environment.
// Tests replace them.

#include <iosfwd>
#include <ostream>
#include <string>

#include "simulator/values/cuda/driver/driver.h"
#include "tools/report/style.h"

namespace orrery {

struct Terminal {
  std::ostream& out;
  std::ostream& err;
  Style style;                        // of out
  Style err_style;                    // of err
  bool progress = false;              // whether err may show progress lines that are overwritten
  std::string cuda_library = {};      // the driver of CUDA; empty: the system's
  std::string cublaslt_library = {};  // cuBLASLt; empty: the system's

  /// Returns the file to load as the driver.
  std::string library_of_cuda() const {
    return cuda_library.empty() ? cuda::kDriverLibrary : cuda_library;
  }
};

/// Returns the terminal of stdout and stderr. They have colours on a terminal unless NO_COLOR is
/// set, and ASCII unless the locale is UTF-8. ORRERY_LIBCUDA names the driver of CUDA and
/// ORRERY_LIBCUBLASLT cuBLASLt, if set.
Terminal standard_terminal();

}  // namespace orrery
