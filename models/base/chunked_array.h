#pragma once

// A ChunkedArray grows without copying or moving its elements.

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace orrery {

template <class T>
class ChunkedArray {
 public:
  size_t size() const { return size_; }

  T& operator[](size_t i) { return (*chunks_[i / kChunk])[i % kChunk]; }
  const T& operator[](size_t i) const { return (*chunks_[i / kChunk])[i % kChunk]; }

  void push_back(const T& item) {
    if (size_ == chunks_.size() * kChunk)
      chunks_.push_back(std::make_unique<Chunk>());
    (*this)[size_++] = item;
  }

 private:
  static constexpr size_t kChunk = 1024;
  using Chunk = std::array<T, kChunk>;

  std::vector<std::unique_ptr<Chunk>> chunks_;
  size_t size_ = 0;
};

}  // namespace orrery
