#pragma once

// These tables have an entry per step: StepTable for steps that can still matter, AllSteps for all.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/base/compiler.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// A StepTable has, for every channel, the entries of the current step and the `window` steps
/// before it. Its memory grows with nodes x channels x window, not with the length of a schedule.
/// If all steps of each channel fit the window, it grows with them instead: the channels of some
/// schedules are very unequal. If they are, where each channel begins is stored too. A default
/// StepTable has no entries.
template <class T>
class StepTable {
 public:
  StepTable() = default;
  StepTable(const Schedule& schedule, const T& initial) : channels_(schedule.extent().channels) {
    const Extent& extent = schedule.extent();
    const Lengths lengths = lengths_of(schedule);
    each_ = lengths.each(extent);
    if (lengths.most > extent.window)
      mask_ = each_ - 1;
    if (each_ > 0) {
      entries_.assign(extent.all_channels() * each_, initial);
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
    if (const uint32_t each = lengths_of(schedule).each(extent); each > 0)
      return channels * each * Int128{sizeof(T)};
    return channels * Int128{sizeof(size_t)} + Int128{count_steps(schedule)} * Int128{sizeof(T)};
  }

  T& at(StepRef ref) { return entries_[index_of(ref)]; }
  const T& at(StepRef ref) const { return entries_[index_of(ref)]; }
  /// Moves the entries of the step's channel to steps that are `steps` later.
  void move(StepRef channel, uint32_t steps) {
    const size_t number = number_of(channel);
    const auto first = static_cast<std::ptrdiff_t>(index_of({channel.node, channel.channel, 0}));
    const auto begin = entries_.begin() + first;
    const auto size = begins_.empty() ? std::ptrdiff_t{each_}
                                      : static_cast<std::ptrdiff_t>(begins_[number + 1]) - first;
    std::rotate(begin, begin + (size - static_cast<std::ptrdiff_t>(steps) % size) % size,
                begin + size);
  }

 private:
  struct Lengths {
    uint32_t least = std::numeric_limits<uint32_t>::max();  // steps of a channel
    uint32_t most = 0;

    /// Returns how many entries each channel has; 0 if channels have different numbers of entries.
    /// If a channel has more steps than the window, each has a power of two, above the window.
    uint32_t each(const Extent& extent) const {
      if (most > extent.window)
        return uint32_t{1} << std::bit_width(extent.window);
      return least == most ? most : 0;
    }
  };
  static Lengths lengths_of(const Schedule& schedule) {
    const Extent& extent = schedule.extent();
    Lengths lengths;
    for (size_t number = 0; number < extent.all_channels(); ++number) {
      const uint32_t steps = schedule.steps(extent.node_of(number), extent.channel_of(number));
      lengths.least = std::min(lengths.least, steps);
      lengths.most = std::max(lengths.most, steps);
      if (lengths.most > extent.window)
        break;
    }
    return lengths;
  }
  uint64_t number_of(StepRef ref) const {
    return uint64_t{ref.node.index()} * channels_ + ref.channel.index();
  }
  uint64_t index_of(StepRef ref) const {
    if (begins_.empty())
      return number_of(ref) * each_ + (ref.index & mask_);
    return begins_[number_of(ref)] + ref.index;
  }

  uint32_t channels_ = 0;
  uint32_t each_ = 0;  // entries of each channel, if begins_ is empty
  uint32_t mask_ = std::numeric_limits<uint32_t>::max();  // the bits of an index that count
  std::vector<size_t> begins_;                            // of the channels, and the end
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
