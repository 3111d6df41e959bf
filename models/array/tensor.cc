#include "models/array/tensor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "models/array/dispatch.h"
#include "models/base/check.h"

namespace orrery {

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
