#include "simulator/values/cuda/driver/cublaslt_error.h"

#include <fmt/format.h>

namespace orrery::cuda {

namespace {

std::string_view status_name(cublasStatus_t code) {
  switch (code) {
#define ORRERY_CUBLAS_NAME(name, value) \
  case name:                            \
    return #name;
    ORRERY_CUBLAS_STATUSES(ORRERY_CUBLAS_NAME)
#undef ORRERY_CUBLAS_NAME
  }
  return "unknown status";
}

}  // namespace

CublasLtError::CublasLtError(const char* call, cublasStatus_t code, const std::string& purpose)
    : std::runtime_error(fmt::format("{}: {} ({}): {}", call, status_name(code),
                                     static_cast<unsigned int>(code), purpose)),
      code_(code) {}

}  // namespace orrery::cuda
