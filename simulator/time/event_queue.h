#pragma once

// The pending events of a simulation, by time. A heap with four children a node, whose hole moves
// instead of whole entries being swapped: of the queues measured, the fastest that has no bad case.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/base/int128.h"
#include "models/base/quantity.h"

namespace orrery {

/// Events of one time come out in the order they were pushed. An event that no longer counts stays
/// in: whoever pushed it compares `sequence` when it comes out.
template <class Payload>
class EventQueue {
 public:
  struct Event {
    Instant time;
    uint64_t sequence = 0;
    Payload payload;
  };

  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }

  /// The earliest event. Requires that there is one.
  const Event& top() const { return heap_.front(); }

  /// Returns the event's sequence number. Requires a time that is not negative.
  uint64_t push(Instant time, Payload payload) {
    const Event event{time, next_++, payload};
    size_t hole = heap_.size();
    heap_.push_back(event);
    while (hole > 0) {
      const size_t parent = (hole - 1) / kChildren;
      if (!before(event, heap_[parent]))
        break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = event;
    return event.sequence;
  }

  /// Takes the earliest event out. Requires that there is one.
  Event pop() {
    const Event earliest = heap_.front();
    const Event last = heap_.back();
    heap_.pop_back();
    if (heap_.empty())
      return earliest;
    size_t hole = 0;
    for (size_t child = 1; child < heap_.size(); child = hole * kChildren + 1) {
      const size_t end = child + kChildren < heap_.size() ? child + kChildren : heap_.size();
      size_t least = child;
      for (size_t c = child + 1; c < end; ++c)
        least = before(heap_[c], heap_[least]) ? c : least;
      if (!before(heap_[least], last))
        break;
      heap_[hole] = heap_[least];
      hole = least;
    }
    heap_[hole] = last;
    return earliest;
  }

 private:
  static constexpr size_t kChildren = 4;

  /// One comparison of 128 bits instead of two, which the processor could mispredict.
  static UInt128 key(const Event& event) {
    return (UInt128{static_cast<uint64_t>(event.time.picoseconds())} << 64U) | event.sequence;
  }
  static bool before(const Event& a, const Event& b) { return key(a) < key(b); }

  std::vector<Event> heap_;
  uint64_t next_ = 0;
};

}  // namespace orrery
