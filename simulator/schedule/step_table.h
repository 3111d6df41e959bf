#pragma once

// These tables have an entry per step: StepTable for steps that can still matter, AllSteps for all.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/base/compiler.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// A StepTable has, for every channel, the entries of the current step and the `window` steps
/// before it. Its memory grows with nodes x channels x window, not with the length of a schedule.
template <class T>
class StepTable {
 public:
  StepTable(const Extent& extent, T initial)
      : channels_(extent.channels),
        shift_(static_cast<uint32_t>(std::bit_width(extent.window))),
        entries_(extent.all_channels() << shift_, initial) {}

  static Int128 bytes(const Extent& extent) {
    const Int128 channels = Int128{extent.nodes} * extent.channels;
    return (channels << std::bit_width(extent.window)) * Int128{sizeof(T)};
  }

  T& at(StepRef ref) { return entries_[index_of(ref)]; }
  const T& at(StepRef ref) const { return entries_[index_of(ref)]; }
  /// Moves the entries of the step's channel to steps that are `steps` later.
  void move(StepRef channel, uint32_t steps) {
    const auto begin = entries_.begin() +
                       static_cast<std::ptrdiff_t>(index_of({channel.node, channel.channel, 0}));
    const auto size = std::ptrdiff_t{1} << shift_;
    std::rotate(begin, begin + (size - static_cast<std::ptrdiff_t>(steps) % size) % size,
                begin + size);
  }

 private:
  uint64_t index_of(StepRef ref) const {
    const uint64_t channel = uint64_t{ref.node.index()} * channels_ + ref.channel.index();
    return (channel << shift_) | (ref.index & ((1U << shift_) - 1U));
  }

  uint32_t channels_;
  uint32_t shift_;  // entries of a channel: window + 1, rounded up to a power of two, 1 << shift_
  std::vector<T> entries_;
};

/// An AllSteps has an entry for every step of a schedule, which must outlive the table.
template <class T>
class AllSteps {
 public:
  AllSteps(const Schedule& schedule, const T& initial) : extent_(&schedule.extent()) {
    size_t steps = 0;
    for (uint32_t n = 0; n < extent_->nodes; ++n)
      for (uint32_t c = 0; c < extent_->channels; ++c) {
        first_.push_back(steps);
        steps += schedule.steps(Node(n), Channel(c));
      }
    entries_.resize(steps, initial);
  }

  T& at(StepRef ref) { return entries_[index_of(ref)]; }
  const T& at(StepRef ref) const { return entries_[index_of(ref)]; }

 private:
  size_t index_of(StepRef ref) const {
    return first_[extent_->number_of(ref.node, ref.channel)] + ref.index;
  }

  const Extent* extent_;
  std::vector<size_t> first_;  // per channel: in entries_
  std::vector<T> entries_;
};

}  // namespace orrery
