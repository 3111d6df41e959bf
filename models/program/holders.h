#pragma once

// Holders knows the devices that have each value of a program.

#include <optional>
#include <span>
#include <vector>

#include "models/program/program.h"

namespace orrery {

/// A value is on the devices of the thread whose op makes it, or whose loop has it as a carry or
/// exit. The result of a held_on is on those of them that its parameter `devices` names. An
/// argument is on its `on` devices, or on all.
class Holders {
 public:
  Holders() = default;  // for a program without values
  explicit Holders(const Program& program);

  /// Returns the devices that have the value, ascending.
  std::span<const LogicalId> of(ValueId value) const { return lists_[list_[value.index()]]; }
  bool has(LogicalId device, ValueId value) const {
    return index_among(of(value), device).has_value();
  }

 private:
  std::vector<std::vector<LogicalId>> lists_;  // all devices first
  std::vector<size_t> list_;                   // per value
};

/// Returns which of a thread's devices have the result of a held_on with these attributes. Requires
/// that both ascend.
std::vector<LogicalId> held_on(std::span<const LogicalId> devices, const Attributes& attributes);

}  // namespace orrery
