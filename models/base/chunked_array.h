#pragma once

// A ChunkedArray grows without copying or moving its elements.

#include <cstddef>
#include <vector>

namespace orrery {

template <class T>
class ChunkedArray {
 public:
  ChunkedArray() = default;
  ChunkedArray(ChunkedArray&&) = default;
  ChunkedArray& operator=(ChunkedArray&&) = default;

  size_t size() const { return size_; }

  T& operator[](size_t i) { return chunks_[i / kChunk][i % kChunk]; }
  const T& operator[](size_t i) const { return chunks_[i / kChunk][i % kChunk]; }

  void push_back(const T& item) {
    if (size_ == chunks_.size() * kChunk)
      chunks_.emplace_back().reserve(kChunk);
    chunks_.back().push_back(item);
    ++size_;
  }

 private:
  static constexpr size_t kChunk = 1024;

  std::vector<std::vector<T>> chunks_;  // full but for the last
  size_t size_ = 0;
};

}  // namespace orrery
