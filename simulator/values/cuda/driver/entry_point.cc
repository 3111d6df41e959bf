#include "simulator/values/cuda/driver/entry_point.h"

#include <fmt/format.h>

namespace orrery::cuda {

std::string_view result_name(CUresult code) {
  switch (code) {
#define ORRERY_CUDA_NAME(name, value) \
  case name:                          \
    return #name;
    ORRERY_CUDA_RESULTS(ORRERY_CUDA_NAME)
#undef ORRERY_CUDA_NAME
  }
  return {};
}

namespace {

std::string message(const char* call, CUresult code, const std::string& purpose) {
  const std::string_view name = result_name(code);
  return fmt::format("{}: {} ({}): {}", call, name.empty() ? "unknown error" : name,
                     static_cast<unsigned int>(code), purpose);
}

}  // namespace

CudaError::CudaError(const char* call, CUresult code, const std::string& purpose)
    : std::runtime_error(message(call, code, purpose)), call_(call), code_(code) {}

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
