#pragma once

// A SharedList is made once and copied often.

#include <algorithm>
#include <compare>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace orrery {

/// Its elements never change, and all copies share them: a copy takes no memory.
template <class T>
class SharedList {
 public:
  SharedList() = default;
  SharedList(std::vector<T> items)
      : items_(std::make_shared<const std::vector<T>>(std::move(items))) {}
  SharedList(std::initializer_list<T> items) : SharedList(std::vector<T>(items)) {}

  size_t size() const { return items_ ? items_->size() : 0; }
  bool empty() const { return size() == 0; }
  const T& operator[](size_t i) const { return (*items_)[i]; }
  const T& front() const { return items_->front(); }
  const T& back() const { return items_->back(); }
  const T* begin() const { return items_ ? items_->data() : nullptr; }
  const T* end() const { return begin() + size(); }
  operator std::span<const T>() const { return {begin(), size()}; }

  friend bool operator==(const SharedList& a, const SharedList& b) {
    if (a.items_ == b.items_)
      return true;
    return a.size() == b.size() && (a.empty() || *a.items_ == *b.items_);
  }
  /// The order is lexicographical.
  friend auto operator<=>(const SharedList& a, const SharedList& b) {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::shared_ptr<const std::vector<T>> items_;  // null: none
};

}  // namespace orrery
