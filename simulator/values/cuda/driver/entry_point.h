#pragma once

// One entry point of a library that is loaded: of the driver, or of cuBLASLt. A function, under the
// name that errors tell.

#include <string>
#include <type_traits>

#include "simulator/values/cuda/driver/cublaslt_error.h"
#include "simulator/values/cuda/driver/cuda_error.h"

namespace orrery::cuda {

/// What is thrown where a library answers with such a code. Each has 0 for success.
template <class Code>
struct ErrorOf;
template <>
struct ErrorOf<CUresult> {
  using Type = CudaError;
};
template <>
struct ErrorOf<cublasStatus_t> {
  using Type = CublasLtError;
};

template <class Signature>
class EntryPoint;

template <class Code, class... Parameters>
class EntryPoint<Code(Parameters...)> {
 public:
  explicit EntryPoint(const char* name) : name_(name) {}

  const char* name() const { return name_; }
  void bind(void* symbol) { function_ = reinterpret_cast<Code (*)(Parameters...)>(symbol); }

  /// What the library answers.
  Code operator()(Parameters... arguments) const { return function_(arguments...); }

  /// Throws CudaError or CublasLtError unless the library answers with success. `purpose` says what
  /// the call is for: a text, or a callable that makes one, which is called after a failure only.
  template <class Purpose>
  void must(const Purpose& purpose, Parameters... arguments) const {
    const Code code = function_(arguments...);
    if (code == Code{})
      return;
    using Error = typename ErrorOf<Code>::Type;
    if constexpr (std::is_invocable_v<const Purpose&>)
      throw Error(name_, code, purpose());
    else
      throw Error(name_, code, std::string(purpose));
  }

 private:
  const char* name_;
  Code (*function_)(Parameters...) = nullptr;
};

}  // namespace orrery::cuda
