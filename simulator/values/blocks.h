#pragma once

// Memory for messages in flight. The block returned last is handed out first, while it is in the
// cache.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/array/tensor.h"

namespace orrery {

class Blocks {
 public:
  /// A block of at least `size` bytes, uninitialized.
  uint32_t take(int64_t size) {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(blocks_.size()));
      blocks_.emplace_back();
    }
    const uint32_t id = free_.back();
    free_.pop_back();
    if (blocks_[id].size() < static_cast<size_t>(size))
      blocks_[id] = Storage(static_cast<size_t>(size));
    return id;
  }
  void give_back(uint32_t id) { free_.push_back(id); }

  /// Stays at its address until the block is returned.
  std::byte* data(uint32_t id) { return blocks_[id].data(); }

 private:
  std::vector<Storage> blocks_;
  std::vector<uint32_t> free_;
};

}  // namespace orrery
