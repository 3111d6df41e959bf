#pragma once

// A Shape has the extents of an array, which is row-major (the last dimension varies fastest).

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "models/base/quantity.h"

namespace orrery {

/// Extents are >= 0. A scalar has rank 0 and one element. elements() throws Overflow beyond 64
/// bits.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims);
  explicit Shape(std::vector<int64_t> dims);

  size_t rank() const { return dims_.size(); }
  int64_t operator[](size_t dimension) const { return dims_[dimension]; }
  std::span<const int64_t> dims() const { return dims_; }

  int64_t elements() const;

  /// These return the product of the extents before `dimension` (1 for the first), and of the
  /// extents from `dimension` on.
  int64_t elements_before(size_t dimension) const;
  int64_t elements_from(size_t dimension) const;

  Shape with(size_t dimension, int64_t extent) const;      // one extent replaced
  Shape without(size_t dimension) const;                   // one dimension removed
  Shape inserted(size_t dimension, int64_t extent) const;  // one dimension added before `dimension`

  /// Returns "[2,3]" or the like, and "[]" for a scalar.
  std::string text() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<int64_t> dims_;
};

}  // namespace orrery
