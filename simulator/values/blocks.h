#pragma once

// The memory that messages travel in. What was given back last is handed out first, while it is in
// the cache.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace orrery {

class Blocks {
 public:
  /// A block of at least `size` bytes, with anything in it.
  uint32_t take(int64_t size) {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(blocks_.size()));
      blocks_.emplace_back();
    }
    const uint32_t id = free_.back();
    free_.pop_back();
    if (blocks_[id].size < size)
      blocks_[id] = {std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(size)), size};
    return id;
  }
  void give_back(uint32_t id) { free_.push_back(id); }

  /// Stays where it is until the block is given back.
  std::byte* data(uint32_t id) { return blocks_[id].data.get(); }

 private:
  struct Block {
    std::unique_ptr<std::byte[]> data;
    int64_t size = 0;
  };
  std::vector<Block> blocks_;
  std::vector<uint32_t> free_;
};

}  // namespace orrery
