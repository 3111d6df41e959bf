#pragma once

// One entry point of the driver: a function of its library, under the name that errors tell.

#include <string>
#include <type_traits>

#include "simulator/values/cuda/driver/cuda_error.h"

namespace orrery::cuda {

template <class Signature>
class EntryPoint;

template <class... Parameters>
class EntryPoint<CUresult(Parameters...)> {
 public:
  explicit EntryPoint(const char* name) : name_(name) {}

  const char* name() const { return name_; }
  void bind(void* symbol) { function_ = reinterpret_cast<CUresult (*)(Parameters...)>(symbol); }

  /// What the driver answers.
  CUresult operator()(Parameters... arguments) const { return function_(arguments...); }

  /// Throws CudaError unless the driver answers with success. `purpose` says what the call is for:
  /// a text, or a callable that makes one, which is called after a failure only.
  template <class Purpose>
  void must(const Purpose& purpose, Parameters... arguments) const {
    const CUresult code = function_(arguments...);
    if (code == CUDA_SUCCESS)
      return;
    if constexpr (std::is_invocable_v<const Purpose&>)
      throw CudaError(name_, code, purpose());
    else
      throw CudaError(name_, code, std::string(purpose));
  }

 private:
  const char* name_;
  CUresult (*function_)(Parameters...) = nullptr;
};

}  // namespace orrery::cuda
