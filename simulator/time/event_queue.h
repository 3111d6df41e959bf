#pragma once

// The pending events of a simulation, by time. A heap with four children a node, whose hole moves
// instead of whole entries being swapped: of the queues measured, the fastest that has no bad case.
// The heap holds only keys; what an event is lies still, in a slot.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/base/check.h"
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

  /// The time of the earliest event. Requires that there is one.
  Instant next() const { return time_of(heap_.front()); }

  /// Returns the event's sequence number. Requires a time that is not negative.
  uint64_t push(Instant time, const Payload& payload) {
    if (free_.empty()) {
      ORRERY_CHECK(slots_.size() < kSlots, "events in flight fit into memory");
      free_.push_back(static_cast<uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot] = payload;
    const uint64_t sequence = pushed_++;
    const Key key =
        (Key{static_cast<uint64_t>(time.picoseconds())} << 64U) | (sequence << kSlotBits) | slot;
    size_t hole = heap_.size();
    heap_.push_back(key);
    while (hole > 0) {
      const size_t parent = (hole - 1) / kChildren;
      if (key > heap_[parent])
        break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = key;
    return sequence;
  }

  /// Takes the earliest event out. Requires that there is one.
  Event pop() {
    const Key earliest = heap_.front();
    const Key last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty())
      fill_root(last);
    const auto order = static_cast<uint64_t>(earliest);
    const auto slot = static_cast<uint32_t>(order % kSlots);
    free_.push_back(slot);
    return {time_of(earliest), order >> kSlotBits, slots_[slot]};
  }

 private:
  /// Time, sequence number, slot, from the most significant bits down: one comparison for all.
  using Key = UInt128;
  static constexpr size_t kChildren = 4;
  static constexpr unsigned kSlotBits = 26;  // leaves 2^38 events, weeks of running
  static constexpr uint64_t kSlots = uint64_t{1} << kSlotBits;

  static Instant time_of(Key key) { return Instant(static_cast<int64_t>(key >> 64U)); }

  /// Puts `key` where it belongs, the root being free.
  void fill_root(Key key) {
    const size_t size = heap_.size();
    size_t hole = 0;
    size_t child = 1;
    for (; child + kChildren <= size; child = hole * kChildren + 1) {
      const Key* const four = &heap_[child];
      const size_t left = four[1] < four[0] ? 1 : 0;
      const size_t right = four[3] < four[2] ? 3 : 2;
      const size_t least = four[right] < four[left] ? right : left;
      if (four[least] > key) {
        heap_[hole] = key;
        return;
      }
      heap_[hole] = four[least];
      hole = child + least;
    }
    if (child < size) {  // the last node with children may have fewer
      size_t least = child;
      for (size_t c = child + 1; c < size; ++c)
        least = heap_[c] < heap_[least] ? c : least;
      if (heap_[least] < key) {
        heap_[hole] = heap_[least];
        hole = least;
      }
    }
    heap_[hole] = key;
  }

  std::vector<Key> heap_;
  std::vector<Payload> slots_;
  std::vector<uint32_t> free_;
  uint64_t pushed_ = 0;
};

}  // namespace orrery
