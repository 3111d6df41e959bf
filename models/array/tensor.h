#pragma once

// A Tensor is an array: a dtype, a shape and row-major elements in one aligned block.

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "models/array/dtype.h"
#include "models/array/shape.h"

namespace orrery {

/// A Storage is the memory of an array's elements. Large blocks use huge pages if there are any: a
/// page fault every 4 KiB would cost more than the simulated collective itself.
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

/// Elements are stored as the machine holds them (little-endian). A pred is one byte, 0 or 1.
class Tensor {
 public:
  Tensor() = default;                // f32 scalar of value 0
  Tensor(Dtype dtype, Shape shape);  // zeros
  /// Takes `bytes` as the elements. Requires as many bytes as that dtype and shape have.
  Tensor(Dtype dtype, Shape shape, Storage bytes);

  Dtype dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t elements() const { return elements_; }
  Bytes size() const { return itemsize(dtype_) * elements_; }

  std::span<std::byte> bytes() { return {bytes_.data(), bytes_.size()}; }
  std::span<const std::byte> bytes() const { return {bytes_.data(), bytes_.size()}; }

  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }

  /// Takes the elements out. The tensor must not be used afterwards.
  Storage take_bytes() && { return std::move(bytes_); }

  /// Returns the same elements in another shape. Requires equal element counts.
  Tensor reshaped(Shape shape) const;

  /// Compares the dtype, the shape and every bit, but all NaNs of one dtype count as one value.
  friend bool operator==(const Tensor& a, const Tensor& b);
  /// Does the same as ==, but NaNs are the same only if their bits are.
  friend bool same_bits(const Tensor& a, const Tensor& b);

 private:
  Dtype dtype_ = Dtype::F32;
  Shape shape_;
  int64_t elements_ = 1;
  Storage bytes_ = Storage(4);
};

}  // namespace orrery
