#pragma once

// The output streams of the command line, and what it takes from its environment. Tests replace
// them.

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
  std::string cublaslt_library = {};  // likewise

  /// The file to load as the driver.
  std::string library_of_cuda() const {
    return cuda_library.empty() ? cuda::kDriverLibrary : cuda_library;
  }
};

/// stdout and stderr: colours on a terminal unless NO_COLOR is set, ASCII where its locale is not
/// UTF-8. The driver of CUDA is what ORRERY_LIBCUDA names, and cuBLASLt what ORRERY_LIBCUBLASLT
/// names, if these are set.
Terminal standard_terminal();

}  // namespace orrery
