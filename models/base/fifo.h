#pragma once

// A queue in one piece of memory. An empty one takes none, unlike std::deque.

#include <cstddef>
#include <utility>
#include <vector>

namespace orrery {

template <class T>
class Fifo {
 public:
  bool empty() const { return first_ == items_.size(); }
  size_t size() const { return items_.size() - first_; }
  T& front() { return items_[first_]; }
  const T& front() const { return items_[first_]; }
  T& operator[](size_t index) { return items_[first_ + index]; }
  const T& operator[](size_t index) const { return items_[first_ + index]; }
  void push(T item) { items_.push_back(std::move(item)); }

  void pop() {
    ++first_;
    if (first_ < items_.size() && first_ < kMostUnused + items_.size() / 2)
      return;
    items_.erase(items_.begin(), items_.begin() + static_cast<ptrdiff_t>(first_));
    first_ = 0;
  }

 private:
  /// Items that are gone keep their memory while they are few beside the others: an item is moved
  /// once, on average.
  static constexpr size_t kMostUnused = 16;

  std::vector<T> items_;
  size_t first_ = 0;
};

}  // namespace orrery
