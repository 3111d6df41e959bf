#pragma once

// These are the kinds of cores of a device, and the memory spaces that they use, as Pallas names
// them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace orrery {

enum class CoreType : uint8_t { Tensor, Scalar, Vector };

inline constexpr std::array<std::string_view, 3> kCoreTypes = {"tensor", "scalar", "vector"};

constexpr std::string_view name(CoreType type) {
  return kCoreTypes[static_cast<size_t>(type)];
}

/// A CoreSpace says where an array lies. In Hbm and VmemShared the device has it once, in Vmem and
/// Smem each core has one of its own. Any is a space of the device that nobody chose.
enum class CoreSpace : uint8_t { Hbm, VmemShared, Vmem, Smem, Any };

inline constexpr std::array<std::string_view, 5> kCoreSpaces = {"hbm", "vmem_shared", "vmem",
                                                                "smem", "any"};

constexpr std::string_view name(CoreSpace space) {
  return kCoreSpaces[static_cast<size_t>(space)];
}

/// Returns whether each core has an array of its own in this space.
constexpr bool is_per_core(CoreSpace space) {
  return space == CoreSpace::Vmem || space == CoreSpace::Smem;
}

/// Returns whether the space is the device's memory.
constexpr bool is_device_memory(CoreSpace space) {
  return space == CoreSpace::Hbm || space == CoreSpace::Any;
}

}  // namespace orrery
