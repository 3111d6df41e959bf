#include "models/array/storage.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include <sys/mman.h>

namespace orrery {

namespace {

constexpr size_t kHugePage = size_t{2} << 20;

bool is_large(size_t size) {
  return size >= 2 * kHugePage;
}

size_t whole_pages(size_t size) {
  return (size + kHugePage - 1) / kHugePage * kHugePage;
}

/// Zeroed memory aligned to kHugePage: maps one huge page more and unmaps both ends.
std::byte* map_pages(size_t size) {
  const size_t length = size + kHugePage;
  void* const mapped =
      mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    throw std::bad_alloc();
  auto* const begin = static_cast<std::byte*>(mapped);
  const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
  if (before > 0)
    munmap(begin, before);
  if (before < kHugePage)
    munmap(begin + before + size, kHugePage - before);
  // Only a hint: without huge pages the memory comes in small ones.
  static_cast<void>(madvise(begin + before, size, MADV_HUGEPAGE));
  return begin + before;
}

}  // namespace

Storage::Storage(size_t size) : size_(size) {
  if (size == 0)
    return;
  if (size > SIZE_MAX / 2)
    throw std::bad_alloc();
  data_ =
      is_large(size) ? map_pages(whole_pages(size)) : static_cast<std::byte*>(std::calloc(size, 1));
  if (data_ == nullptr)
    throw std::bad_alloc();
}

Storage::~Storage() {
  if (data_ == nullptr)
    return;
  if (is_large(size_))
    munmap(data_, whole_pages(size_));
  else
    std::free(data_);
}

Storage::Storage(const Storage& other) : Storage(other.size_) {
  if (size_ > 0)
    std::memcpy(data_, other.data_, size_);
}

Storage& Storage::operator=(const Storage& other) {
  if (this != &other)
    *this = Storage(other);
  return *this;
}

Storage::Storage(Storage&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Storage& Storage::operator=(Storage&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace orrery
