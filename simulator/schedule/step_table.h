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
/// If all steps of each channel fit the window, it grows with them instead: the channels of some
/// schedules are very unequal. A default StepTable has no entries.
template <class T>
class StepTable {
 public:
  StepTable() = default;
  StepTable(const Schedule& schedule, const T& initial) : channels_(schedule.extent().channels) {
    const Extent& extent = schedule.extent();
    if (!fits_window(schedule)) {
      shift_ = shift_of(extent);
      entries_.assign(extent.all_channels() << shift_, initial);
      return;
    }
    begins_.reserve(extent.all_channels() + 1);
    begins_.push_back(0);
    for (size_t number = 0; number < extent.all_channels(); ++number)
      begins_.push_back(begins_.back() +
                        schedule.steps(extent.node_of(number), extent.channel_of(number)));
    entries_.assign(begins_.back(), initial);
  }

  static Int128 bytes(const Schedule& schedule) {
    const Extent& extent = schedule.extent();
    const Int128 channels = Int128{extent.nodes} * extent.channels;
    if (!fits_window(schedule))
      return (channels << shift_of(extent)) * Int128{sizeof(T)};
    return channels * Int128{sizeof(size_t)} + Int128{count_steps(schedule)} * Int128{sizeof(T)};
  }

  T& at(StepRef ref) { return entries_[index_of(ref)]; }
  const T& at(StepRef ref) const { return entries_[index_of(ref)]; }
  /// Moves the entries of the step's channel to steps that are `steps` later.
  void move(StepRef channel, uint32_t steps) {
    const size_t number = number_of(channel);
    const auto first = static_cast<std::ptrdiff_t>(index_of({channel.node, channel.channel, 0}));
    const auto begin = entries_.begin() + first;
    const auto size = begins_.empty() ? std::ptrdiff_t{1} << shift_
                                      : static_cast<std::ptrdiff_t>(begins_[number + 1]) - first;
    std::rotate(begin, begin + (size - static_cast<std::ptrdiff_t>(steps) % size) % size,
                begin + size);
  }

 private:
  static bool fits_window(const Schedule& schedule) {
    const Extent& extent = schedule.extent();
    for (size_t number = 0; number < extent.all_channels(); ++number)
      if (schedule.steps(extent.node_of(number), extent.channel_of(number)) > extent.window)
        return false;
    return true;
  }
  /// Returns the base-2 logarithm of window + 1, rounded up: a channel has so many entries.
  static uint32_t shift_of(const Extent& extent) {
    return static_cast<uint32_t>(std::bit_width(extent.window));
  }
  uint64_t number_of(StepRef ref) const {
    return uint64_t{ref.node.index()} * channels_ + ref.channel.index();
  }
  uint64_t index_of(StepRef ref) const {
    if (begins_.empty())
      return (number_of(ref) << shift_) | (ref.index & ((1U << shift_) - 1U));
    return begins_[number_of(ref)] + ref.index;
  }

  uint32_t channels_ = 0;
  uint32_t shift_ = 0;          // a channel has 1 << shift_ entries, if begins_ is empty
  std::vector<size_t> begins_;  // of the channels, and the end
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
