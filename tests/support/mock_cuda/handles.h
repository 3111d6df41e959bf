#pragma once

// `Handles` owns the objects of one kind, by handles that are never used again.

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tests/support/mock_cuda/misuse.h"

namespace orrery::mock_cuda {

/// Returns a number that no handle of any kind had before.
uint64_t next_handle();

/// Returns the number of a handle, which the driver passes as a pointer or as a number.
template <class Handle>
uint64_t number_of(Handle* handle) {
  return reinterpret_cast<uintptr_t>(handle);
}
inline uint64_t number_of(unsigned long long handle) {
  return handle;
}

template <class Handle, class Thing>
class Handles {
 public:
  explicit Handles(const char* noun) : noun_(noun) {}

  Handle add(Thing thing) {
    const uint64_t number = next_handle();
    things_.emplace(number, std::move(thing));
    if constexpr (std::is_pointer_v<Handle>)
      return reinterpret_cast<Handle>(static_cast<uintptr_t>(number));
    else
      return number;
  }

  /// Throws Misuse where the handle belongs to no object of this kind, or to a destroyed one.
  Thing& at(Handle handle) {
    const auto found = things_.find(number_of(handle));
    if (found == things_.end())
      throw Misuse(cuda::CUDA_ERROR_INVALID_HANDLE,
                   fmt::format("handle {} is of no {}, or of one that was destroyed",
                               number_of(handle), noun_));
    return found->second;
  }
  bool has(Handle handle) const { return things_.count(number_of(handle)) != 0; }

  void remove(Handle handle) {
    at(handle);
    things_.erase(number_of(handle));
  }

  const char* noun() const { return noun_; }
  size_t size() const { return things_.size(); }
  std::map<uint64_t, Thing>& all() { return things_; }

 private:
  const char* noun_;
  std::map<uint64_t, Thing> things_;
};

}  // namespace orrery::mock_cuda
