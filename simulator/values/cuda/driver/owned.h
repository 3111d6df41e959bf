#pragma once

// A handle of a library with the entry point that destroys it.

#include <utility>

#include "simulator/values/cuda/driver/entry_point.h"

namespace orrery::cuda {

/// Destroys its handle at the end. What that answers is ignored: it tells of earlier failures,
/// which a synchronisation has told already.
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
