#include "models/array/tensor.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include <sys/mman.h>

#include "models/array/arith.h"
#include "models/array/dtype.h"
#include "models/base/check.h"

namespace orrery {

namespace {

constexpr size_t kHugePage = size_t{2} << 20;

bool is_large(size_t size) {
  return size >= 2 * kHugePage;
}

size_t whole_pages(size_t size) {
  return (size + kHugePage - 1) / kHugePage * kHugePage;
}

/// Returns zeroed memory aligned to kHugePage. Maps one huge page more and unmaps both ends.
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
  // This is only a hint. Without huge pages the memory comes in small pages.
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

Tensor::Tensor(Dtype dtype, Shape shape)
    : dtype_(dtype),
      shape_(std::move(shape)),
      elements_(shape_.elements()),
      bytes_(static_cast<size_t>((itemsize(dtype) * elements_).count())) {}

Tensor::Tensor(Dtype dtype, Shape shape, Storage bytes)
    : dtype_(dtype),
      shape_(std::move(shape)),
      elements_(shape_.elements()),
      bytes_(std::move(bytes)) {
  ORRERY_CHECK(bytes_.size() == static_cast<size_t>(size().count()),
               "a tensor has the bytes of its elements");
}

Tensor Tensor::reshaped(Shape shape) const {
  ORRERY_CHECK(shape.elements() == elements_, "a reshape keeps the number of elements");
  Tensor result = *this;
  result.shape_ = std::move(shape);
  return result;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype_ == b.dtype_ && a.shape_ == b.shape_ &&
         (a.bytes_.size() == 0 ||
          std::memcmp(a.bytes_.data(), b.bytes_.data(), a.bytes_.size()) == 0);
}

bool operator==(const Tensor& a, const Tensor& b) {
  if (a.dtype_ != b.dtype_ || a.shape_ != b.shape_)
    return false;
  if (same_bits(a, b))
    return true;
  return dispatch(a.dtype_, [&](auto tag) {
    using E = typename decltype(tag)::type;
    const std::span<const E> left = a.as<E>();
    return std::equal(left.begin(), left.end(), b.as<E>().begin(),
                      [](E x, E y) { return arith::same_value(x, y); });
  });
}

}  // namespace orrery
