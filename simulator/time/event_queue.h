#pragma once

// An EventQueue has the pending events of a simulation, by time, in three tiers. Far events are in
// one unsorted list. When all nearer events are gone, the far ones are distributed over about as
// many buckets of equal width as there are events. A heap orders the events of the first bucket
// only, so it stays small. (A ladder queue with one rung: Tang, Goh and Thng, ACM TOMACS 15(3),
// 2005.) In the worst case all events are in one bucket, and the queue is a heap. Consecutive
// events of the same time are queued as one.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/base/check.h"
#include "models/base/chunked_array.h"
#include "models/base/compiler.h"
#include "models/base/quantity.h"

namespace orrery {

/// A KeyHeap gives out keys in ascending order; no key is in it twice. It is a heap with four
/// children a node. A hole moves through it, so that no entries are swapped.
class KeyHeap {
 public:
  using Key = UInt128;

  bool empty() const { return keys_.empty(); }
  const std::vector<Key>& keys() const { return keys_; }  // in no order
  Key least() const { return keys_.front(); }

  void push(Key key) {
    size_t hole = keys_.size();
    keys_.push_back(key);
    while (hole > 0) {
      const size_t parent = (hole - 1) / kChildren;
      if (key > keys_[parent])
        break;
      keys_[hole] = keys_[parent];
      hole = parent;
    }
    keys_[hole] = key;
  }

  Key pop() {
    const Key least = keys_.front();
    const Key last = keys_.back();
    keys_.pop_back();
    if (!keys_.empty())
      fill_root(last);
    return least;
  }

 private:
  static constexpr size_t kChildren = 4;

  /// Puts `key` into the heap, whose root is free.
  void fill_root(Key key) {
    const size_t size = keys_.size();
    size_t hole = 0;
    size_t child = 1;
    for (; child + kChildren <= size; child = hole * kChildren + 1) {
      const Key* const four = &keys_[child];
      const size_t left = four[1] < four[0] ? 1 : 0;
      const size_t right = four[3] < four[2] ? 3 : 2;
      const size_t least = four[right] < four[left] ? right : left;
      if (four[least] > key) {
        keys_[hole] = key;
        return;
      }
      keys_[hole] = four[least];
      hole = child + least;
    }
    if (child < size) {  // the last node with children may have fewer
      size_t least = child;
      for (size_t c = child + 1; c < size; ++c)
        least = keys_[c] < keys_[least] ? c : least;
      if (keys_[least] < key) {
        keys_[hole] = keys_[least];
        hole = least;
      }
    }
    keys_[hole] = key;
  }

  std::vector<Key> keys_;
};

/// Events of one time come out in the order in which they were pushed. An event that is no longer
/// valid stays in the queue: the caller compares `sequence` when it comes out.
template <class Payload>
class EventQueue {
 public:
  struct Event {
    Instant time;
    uint64_t sequence = 0;
    Payload payload;
  };

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }

  /// Returns the time of the earliest event. Requires that there is one.
  Instant next() {
    while (near_.empty())
      advance();
    return Instant(static_cast<int64_t>(time_of(near_.least())));
  }

  /// Returns the event's sequence number. Requires a time that is not negative.
  uint64_t push(Instant time, const Payload& payload) {
    if (last_ != kNone && time == last_time_)
      return push_after_last(payload);
    if (free_ == kNone) {
      ORRERY_CHECK(slots_.size() < kSlots, "events in flight fit into memory");
      free_ = static_cast<uint32_t>(slots_.size());
      slots_.push_back({{}, {}, kNone, kNone});
    }
    const uint32_t id = free_;
    Slot& slot = slots_[id];
    free_ = slot.next;
    slot.payload = payload;
    last_ = id;
    last_follower_ = kNone;
    last_time_ = time;
    const uint64_t sequence = pushed_++;
    const auto at = static_cast<uint64_t>(time.picoseconds());
    slot.key = (Key{at} << 64U) | (sequence << kSlotBits) | id;
    ++size_;
    if (at >= far_begin_)
      put_far(id);
    else if (at >= near_end_)
      link(bucket_of(at), id);
    else
      near_.push(slot.key);
    return sequence;
  }

  /// Visits the time and the payload of all events, in no order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    const auto in_slot = [&](uint32_t id) {
      const Slot& slot = slots_[id];
      const Instant time(static_cast<int64_t>(time_of(slot.key)));
      visit(time, slot.payload);
      for (uint32_t f = slot.followers; f != kNone; f = followers_[f].next)
        visit(time, followers_[f].payload);
    };
    for (const Key key : near_.keys())
      in_slot(static_cast<uint32_t>(key % kSlots));
    for (size_t bucket = bucket_; bucket < buckets_.size(); ++bucket)
      for (uint32_t id = buckets_[bucket]; id != kNone; id = slots_[id].next)
        in_slot(id);
    for (uint32_t id = far_; id != kNone; id = slots_[id].next)
      in_slot(id);
  }

  /// Changes the payloads of all events, in no order.
  template <class Change>
  void change_each(Change&& change) {
    for_each([&](Instant, const Payload& payload) { change(const_cast<Payload&>(payload)); });
  }

  /// Takes the earliest event out. Requires that there is one.
  Event pop() {
    const Instant time = next();
    const auto id = static_cast<uint32_t>(near_.least() % kSlots);
    Slot& slot = slots_[id];
    const Event event{time, static_cast<uint64_t>(slot.key) >> kSlotBits, slot.payload};
    --size_;
    if (slot.followers == kNone) {
      near_.pop();
      link(free_, id);
      last_ = last_ == id ? kNone : last_;
    } else {
      follow(slot);
    }
    return event;
  }

 private:
  /// A Key has the time, the sequence number and the slot, from the most significant bits down, so
  /// that one comparison covers all.
  using Key = KeyHeap::Key;
  static constexpr unsigned kSlotBits = 26;  // leaves 2^38 events, weeks of running
  static constexpr uint64_t kSlots = uint64_t{1} << kSlotBits;
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  /// A Slot has a pending event. A slot outside the heap is in a linked list of slots: in that of a
  /// bucket, or in that of the far events. Unused slots have a list of their own.
  struct Slot {
    Key key = 0;
    Payload payload;
    uint32_t next = kNone;
    uint32_t followers = kNone;  // a list: events pushed right after it for the same time
  };
  struct Follower {
    Payload payload;
    uint32_t next = kNone;
  };

  uint64_t push_after_last(const Payload& payload) {
    if (free_follower_ == kNone) {
      free_follower_ = static_cast<uint32_t>(followers_.size());
      followers_.push_back({{}, kNone});
    }
    const uint32_t id = free_follower_;
    free_follower_ = followers_[id].next;
    followers_[id] = {payload, kNone};
    (last_follower_ == kNone ? slots_[last_].followers : followers_[last_follower_].next) = id;
    last_follower_ = id;
    ++size_;
    return pushed_++;
  }

  /// Gives the slot, whose event is gone, to its first follower. It keeps its position in the heap,
  /// since the sequence numbers in between belong to its followers.
  void follow(Slot& slot) {
    const uint32_t id = slot.followers;
    slot.payload = followers_[id].payload;
    slot.followers = followers_[id].next;
    slot.key += kSlots;
    last_follower_ = last_follower_ == id ? kNone : last_follower_;
    followers_[id].next = free_follower_;
    free_follower_ = id;
  }

  static uint64_t time_of(Key key) { return static_cast<uint64_t>(key >> 64U); }
  uint32_t& bucket_of(uint64_t time) { return buckets_[(time - buckets_begin_) >> width_bits_]; }

  void link(uint32_t& head, uint32_t id) {
    slots_[id].next = head;
    head = id;
  }

  void put_far(uint32_t id) {
    const uint64_t time = time_of(slots_[id].key);
    link(far_, id);
    ++far_count_;
    far_least_ = std::min(far_least_, time);
    far_most_ = std::max(far_most_, time);
  }

  /// Moves the events of the next bucket into the empty heap. Requires that there are events.
  void advance() {
    while (bucket_ < buckets_.size() && buckets_[bucket_] == kNone)
      ++bucket_;
    if (bucket_ == buckets_.size())
      deal();
    uint32_t& head = buckets_[bucket_++];
    for (uint32_t id = head; id != kNone; id = slots_[id].next)
      near_.push(slots_[id].key);
    head = kNone;
    near_end_ = buckets_begin_ + (uint64_t{bucket_} << width_bits_);
  }

  /// Distributes the far events over at most four times as many buckets. The first gets one.
  void deal() {
    ORRERY_CHECK(far_count_ > 0, "there is a next event");
    const uint64_t range = far_most_ - far_least_;
    width_bits_ = 0;
    while ((range >> width_bits_) >= 2 * std::bit_ceil(far_count_))
      ++width_bits_;
    buckets_begin_ = far_least_;
    buckets_.assign((range >> width_bits_) + 1, kNone);
    bucket_ = 0;
    far_begin_ = buckets_begin_ + (uint64_t{buckets_.size()} << width_bits_);
    for (uint32_t id = far_; id != kNone;) {
      const uint32_t following = slots_[id].next;
      link(bucket_of(time_of(slots_[id].key)), id);
      id = following;
    }
    far_ = kNone;
    far_count_ = 0;
    far_least_ = std::numeric_limits<uint64_t>::max();
    far_most_ = 0;
  }

  std::vector<Slot> slots_;
  uint32_t free_ = kNone;
  ChunkedArray<Follower> followers_;
  uint32_t free_follower_ = kNone;
  uint32_t last_ = kNone;           // the slot pushed last, while it is pending
  uint32_t last_follower_ = kNone;  // the last of its followers
  Instant last_time_;
  uint64_t pushed_ = 0;
  size_t size_ = 0;

  KeyHeap near_;  // events before near_end_
  uint64_t near_end_ = 0;

  std::vector<uint32_t> buckets_;  // from bucket_ on: events from near_end_ to far_begin_
  size_t bucket_ = 0;              // the first that is not yet in the heap
  uint64_t buckets_begin_ = 0;
  unsigned width_bits_ = 0;  // a bucket is 2^width_bits_ picoseconds wide

  uint32_t far_ = kNone;  // events from far_begin_ on
  uint64_t far_begin_ = 0;
  uint64_t far_count_ = 0;
  uint64_t far_least_ = std::numeric_limits<uint64_t>::max();
  uint64_t far_most_ = 0;
};

}  // namespace orrery
