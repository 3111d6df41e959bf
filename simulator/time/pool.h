#pragma once

// Records with an index that is reused when they are given back: no allocation once warm.

#include <cstdint>
#include <vector>

namespace orrery {

template <class T>
class Pool {
 public:
  uint32_t put(const T& record) {
    if (free_.empty()) {
      records_.push_back(record);
      return static_cast<uint32_t>(records_.size() - 1);
    }
    const uint32_t index = free_.back();
    free_.pop_back();
    records_[index] = record;
    return index;
  }

  T take(uint32_t index) {
    free_.push_back(index);
    return records_[index];
  }

  T& operator[](uint32_t index) { return records_[index]; }

 private:
  std::vector<T> records_;
  std::vector<uint32_t> free_;
};

}  // namespace orrery
