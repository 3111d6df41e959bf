#pragma once

// Algorithms use this to split elements into parts as evenly as possible.

#include <algorithm>
#include <compare>
#include <cstdint>

#include "models/base/check.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// It splits `count` elements into `parts` contiguous parts. The first count % parts parts have one
/// element more, so the largest has ceil(count / parts).
class Split {
 public:
  constexpr Split(int64_t count, int64_t parts) : small_(count / parts), larger_(count % parts) {}

  constexpr int64_t first(int64_t part) const { return part * small_ + std::min(part, larger_); }
  constexpr int64_t count(int64_t part) const { return small_ + (part < larger_ ? 1 : 0); }
  constexpr int64_t larger() const { return larger_; }  // how many parts have one element more
  constexpr bool is_larger(int64_t part) const { return part < larger_; }
  constexpr int64_t largest() const { return small_ + (larger_ > 0 ? 1 : 0); }
  constexpr int64_t smallest() const { return small_; }

 private:
  int64_t small_;
  int64_t larger_;
};

/// It says how a collective uses its connections. A scenario may set it for any algorithm.
struct Transport {
  uint32_t channels = 1;  // every part of the data is split over them; they run concurrently
  uint32_t slots = 2;     // as Extent::slots
  Entry entry = Entry::Eager;
  /// In an exchange, a channel takes so many elements of a message before the next channel takes
  /// any. If it is 0, or all channels are needed anyway, they share each message evenly.
  int64_t whole_part = 0;
  /// A message has at most so many elements, for algorithms that cut their messages themselves
  /// (Cutting). If it is 0, there is no limit.
  int64_t largest = 0;
  friend auto operator<=>(const Transport&, const Transport&) = default;
};

/// It divides a message of an exchange over the channels of its transport.
class ChannelParts {
 public:
  ChannelParts(int64_t count, const Transport& transport)
      : count_(count), even_(count, transport.channels), whole_(transport.whole_part) {
    if (whole_ <= even_.largest())
      whole_ = 0;
  }

  int64_t first(int64_t channel) const {
    return whole_ == 0 ? even_.first(channel) : std::min(count_, channel * whole_);
  }
  int64_t count(int64_t channel) const {
    return whole_ == 0 ? even_.count(channel) : std::min(whole_, count_ - first(channel));
  }
  int64_t largest() const { return whole_ == 0 ? even_.largest() : std::min(whole_, count_); }

 private:
  int64_t count_;
  Split even_;
  int64_t whole_;  // 0: evenly
};

}  // namespace orrery
