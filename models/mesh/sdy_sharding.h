#pragma once

// An SdyArray is a sharding as Shardy takes it: with the names of axes, and dimensions that the
// compiler may cut further.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/id.h"

namespace orrery {

struct SdyDim {
  std::vector<std::string> axes;  // major to minor
  bool open = false;              // whether the compiler may cut it by further axes
  friend bool operator==(const SdyDim&, const SdyDim&) = default;
};

struct SdyArray {
  std::vector<SdyDim> dims;
  std::optional<std::vector<LogicalId>> device_ids = {};
  std::vector<std::string> replicated_axes = {};  // along which it must copy; in mesh order
  std::vector<std::string> unreduced_axes = {};   // in mesh order
  friend bool operator==(const SdyArray&, const SdyArray&) = default;

  /// Returns what JAX's repr does: "SdyArray([{'x', ?}, {}], device_ids=(1, 0),
  /// replicated_axes=frozenset({'y'}))", the set sorted. JAX does not print unreduced axes.
  std::string text() const;
};

/// Returns the array of that rank that the compiler may cut as it likes (JAX's AUTO).
SdyArray open_array(size_t rank);

}  // namespace orrery
