#include "models/array/shape.h"

#include <algorithm>
#include <utility>

#include "models/base/check.h"

namespace orrery {

namespace {

// Only the whole product must fit. It is 0 if an extent is 0, however large the others are.
int64_t product(std::span<const int64_t> extents) {
  if (std::find(extents.begin(), extents.end(), 0) != extents.end())
    return 0;
  int64_t result = 1;
  for (const int64_t extent : extents)
    result = checked_multiply(result, extent);
  return result;
}

}  // namespace

Shape::Shape(std::initializer_list<int64_t> dims) : Shape(std::vector<int64_t>(dims)) {}

Shape::Shape(std::vector<int64_t> dims) : dims_(std::move(dims)) {
  for (const int64_t extent : dims_)
    ORRERY_CHECK(extent >= 0, "extents of a shape are not negative");
}

int64_t Shape::elements() const {
  return product(dims_);
}

int64_t Shape::elements_before(size_t dimension) const {
  ORRERY_CHECK(dimension <= rank(), "the dimension is one of the shape's, or one past them");
  return product(dims().first(dimension));
}

int64_t Shape::elements_from(size_t dimension) const {
  ORRERY_CHECK(dimension <= rank(), "the dimension is one of the shape's, or one past them");
  return product(dims().subspan(dimension));
}

Shape Shape::with(size_t dimension, int64_t extent) const {
  ORRERY_CHECK(dimension < rank(), "the dimension is one of the shape's");
  std::vector<int64_t> dims = dims_;
  dims[dimension] = extent;
  return Shape(std::move(dims));
}

Shape Shape::without(size_t dimension) const {
  ORRERY_CHECK(dimension < rank(), "the dimension is one of the shape's");
  std::vector<int64_t> dims = dims_;
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(dimension));
  return Shape(std::move(dims));
}

Shape Shape::inserted(size_t dimension, int64_t extent) const {
  ORRERY_CHECK(dimension <= rank(), "the dimension is one of the shape's, or one past them");
  std::vector<int64_t> dims = dims_;
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(dimension), extent);
  return Shape(std::move(dims));
}

std::string Shape::text() const {
  std::string text = "[";
  for (size_t d = 0; d < rank(); ++d) {
    if (d != 0)
      text += ',';
    text += std::to_string(dims_[d]);
  }
  return text + "]";
}

}  // namespace orrery
