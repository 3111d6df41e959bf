#pragma once

// The memory of an array's elements. Large blocks use huge pages where available: a page fault
// every 4 KiB would cost more than the simulated collective itself.

#include <cstddef>

namespace orrery {

class Storage {
 public:
  Storage() = default;
  explicit Storage(size_t size);  // zeros
  ~Storage();
  Storage(const Storage& other);
  Storage& operator=(const Storage& other);
  Storage(Storage&& other) noexcept;  // leaves `other` empty
  Storage& operator=(Storage&& other) noexcept;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace orrery
