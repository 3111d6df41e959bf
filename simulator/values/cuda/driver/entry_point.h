#pragma once

// This file makes calls of a library that is loaded at run time: the driver, or cuBLASLt. An
// EntryPoint is a function with the name that errors give. A call that fails throws the library's
// error. Owned destroys what a call has made.

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "simulator/values/cuda/driver/cublaslt_api.h"
#include "simulator/values/cuda/driver/cuda_api.h"

namespace orrery::cuda {

/// Returns the name of a code, "CUDA_ERROR_OUT_OF_MEMORY"; empty for one unknown to CUDA 13.0.
std::string_view result_name(CUresult code);

/// A CudaError is a call of the driver that failed. what() is "cuMemCreate:
/// CUDA_ERROR_OUT_OF_MEMORY (2): 64 MiB of virtual device 3".
class CudaError : public std::runtime_error {
 public:
  /// `call` must live as long as the program.
  CudaError(const char* call, CUresult code, const std::string& purpose);

  std::string_view call() const { return call_; }
  CUresult code() const { return code_; }
  bool out_of_memory() const { return code_ == CUDA_ERROR_OUT_OF_MEMORY; }

 private:
  const char* call_;
  CUresult code_;
};

/// A CublasLtError is a call of cuBLASLt that failed. what() is "cublasLtMatmul:
/// CUBLAS_STATUS_EXECUTION_FAILED (13): a product of f16".
class CublasLtError : public std::runtime_error {
 public:
  CublasLtError(const char* call, cublasStatus_t code, const std::string& purpose);

  cublasStatus_t code() const { return code_; }

 private:
  cublasStatus_t code_;
};

/// ErrorOf has the error that is thrown for a code of this type. In each type 0 is success.
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

  /// Returns the library's answer.
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

/// An Owned is a handle of a library with the entry point that destroys it at the end. The answer
/// of that call is ignored: it tells of earlier failures, which a synchronisation has thrown.
template <class Handle, class Code = CUresult>
class Owned {
 public:
  Owned() = default;
  Owned(const EntryPoint<Code(Handle)>& destroy, Handle handle)
      : destroy_(&destroy), handle_(handle) {}
  Owned(Owned&& other) noexcept
      : destroy_(std::exchange(other.destroy_, nullptr)),
        handle_(std::exchange(other.handle_, {})) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(destroy_, other.destroy_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (destroy_ != nullptr)
      (*destroy_)(handle_);
  }

  Handle get() const { return handle_; }

 private:
  const EntryPoint<Code(Handle)>* destroy_ = nullptr;  // null: owns nothing
  Handle handle_{};
};

}  // namespace orrery::cuda
