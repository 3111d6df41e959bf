#pragma once

// One entry for each step that can still matter: for every channel the current step and the
// `window` steps before it. Memory grows with nodes x channels x window, not with the length of a
// schedule.

#include <bit>
#include <cstdint>
#include <vector>

#include "models/base/int128.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

template <class T>
class StepTable {
 public:
  StepTable(const Extent& extent, T initial)
      : channels_(extent.channels),
        shift_(static_cast<uint32_t>(std::bit_width(extent.window))),
        entries_((uint64_t{extent.nodes} * extent.channels) << shift_, initial) {}

  static Int128 bytes(const Extent& extent) {
    const Int128 channels = Int128{extent.nodes} * extent.channels;
    return (channels << std::bit_width(extent.window)) * Int128{sizeof(T)};
  }

  T& at(StepRef ref) { return entries_[index_of(ref)]; }
  const T& at(StepRef ref) const { return entries_[index_of(ref)]; }
  /// Of all channels. A channel's step is in the same place whenever its index is the same.
  const std::vector<T>& entries() const { return entries_; }

 private:
  uint64_t index_of(StepRef ref) const {
    const uint64_t channel = uint64_t{ref.node.index()} * channels_ + ref.channel.index();
    return (channel << shift_) | (ref.index & ((1U << shift_) - 1U));
  }

  uint32_t channels_;
  uint32_t shift_;  // entries of a channel: window + 1, rounded up to a power of two, 1 << shift_
  std::vector<T> entries_;
};

}  // namespace orrery
