// The part of kernels.h that moves elements: no bit of an element changes.

#include <cstring>
#include <utility>

#include "models/array/kernels.h"
#include "models/base/check.h"

namespace orrery {

namespace {

/// Elements between neighbours along each dimension.
std::vector<int64_t> strides_of(const Shape& shape) {
  std::vector<int64_t> strides(shape.rank());
  for (size_t d = 0; d < shape.rank(); ++d)
    strides[d] = shape.elements_from(d + 1);
  return strides;
}

template <class Word>
void gather_words(Word* target, const Word* source, const Shape& shape,
                  std::span<const int64_t> strides) {
  if (shape.rank() == 0) {
    *target = *source;
    return;
  }
  const size_t last = shape.rank() - 1;
  const int64_t length = shape[last];
  const int64_t rows = shape.elements_before(last);
  std::vector<int64_t> index(last);
  for (int64_t row = 0; row < rows; ++row) {
    if (strides[last] == 1) {
      std::memcpy(target, source, static_cast<size_t>(length) * sizeof(Word));
    } else {
      for (int64_t i = 0; i < length; ++i)
        target[i] = source[i * strides[last]];
    }
    target += length;
    // To the next row: count up, and carry into the dimension before where one is full.
    for (size_t d = last; d-- > 0;) {
      source += strides[d];
      if (++index[d] < shape[d])
        break;
      source -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

/// Fills `result`, row-major, with the elements of `operand` that are `strides` apart from element
/// `first`.
void gather(Tensor& result, const Tensor& operand, int64_t first,
            std::span<const int64_t> strides) {
  if (result.elements() == 0)
    return;
  const auto move = [&]<class Word>(Word /*of the element's size*/) {
    gather_words(result.as<Word>().data(), operand.as<Word>().data() + first, result.shape(),
                 strides);
  };
  switch (itemsize(operand.dtype()).count()) {
    case 1:
      return move(uint8_t{});
    case 2:
      return move(uint16_t{});
    case 4:
      return move(uint32_t{});
    case 8:
      return move(uint64_t{});
    default:
      ORRERY_CHECK(false, "elements are 1, 2, 4 or 8 bytes");
  }
}

}  // namespace

Tensor reshape(const Tensor& operand, Shape shape) {
  return operand.reshaped(std::move(shape));
}

Tensor transpose(const Tensor& operand, std::span<const int64_t> permutation) {
  const Shape& from = operand.shape();
  ORRERY_CHECK(permutation.size() == from.rank(), "a permutation names every dimension");
  const std::vector<int64_t> operand_strides = strides_of(from);
  std::vector<bool> named(from.rank());
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;
  for (const int64_t dimension : permutation) {
    ORRERY_CHECK(dimension >= 0 && static_cast<size_t>(dimension) < from.rank(),
                 "a permutation names dimensions of the operand");
    const auto d = static_cast<size_t>(dimension);
    ORRERY_CHECK(!named[d], "a permutation names every dimension once");
    named[d] = true;
    dims.push_back(from[d]);
    strides.push_back(operand_strides[d]);
  }
  Tensor result(operand.dtype(), Shape(std::move(dims)));
  gather(result, operand, 0, strides);
  return result;
}

Tensor slice(const Tensor& operand, const SliceBounds& bounds) {
  const Shape& from = operand.shape();
  ORRERY_CHECK(bounds.start.size() == from.rank() && bounds.limit.size() == from.rank() &&
                   (bounds.strides.empty() || bounds.strides.size() == from.rank()),
               "a slice bounds every dimension");
  std::vector<int64_t> strides = strides_of(from);
  std::vector<int64_t> dims;
  int64_t first = 0;
  for (size_t d = 0; d < from.rank(); ++d) {
    const int64_t start = bounds.start[d];
    const int64_t limit = bounds.limit[d];
    const int64_t step = bounds.strides.empty() ? 1 : bounds.strides[d];
    ORRERY_CHECK(0 <= start && start <= limit && limit <= from[d],
                 "a slice stays inside its operand");
    ORRERY_CHECK(step > 0, "a slice runs forward");
    first += start * strides[d];
    dims.push_back(ceil_divide(limit - start, step));
    strides[d] *= step;
  }
  Tensor result(operand.dtype(), Shape(std::move(dims)));
  gather(result, operand, first, strides);
  return result;
}

Tensor concatenate(const std::vector<std::reference_wrapper<const Tensor>>& parts,
                   size_t dimension) {
  ORRERY_CHECK(!parts.empty(), "there is something to concatenate");
  const Tensor& model = parts.front();
  ORRERY_CHECK(dimension < model.shape().rank(),
               "parts have the dimension that they are joined along");
  int64_t extent = 0;
  for (const Tensor& part : parts) {
    ORRERY_CHECK(part.dtype() == model.dtype(), "parts have one dtype");
    ORRERY_CHECK(part.shape().rank() == model.shape().rank() &&
                     part.shape().without(dimension) == model.shape().without(dimension),
                 "parts have one shape but for the extent that they are joined along");
    extent = checked_add(extent, part.shape()[dimension]);
  }
  Tensor result(model.dtype(), model.shape().with(dimension, extent));
  if (result.elements() == 0)
    return result;
  const int64_t blocks = model.shape().elements_before(dimension);
  std::byte* target = result.bytes().data();
  for (int64_t block = 0; block < blocks; ++block) {
    for (const Tensor& part : parts) {
      const size_t size = part.bytes().size() / static_cast<size_t>(blocks);
      if (size == 0)
        continue;
      std::memcpy(target, part.bytes().data() + static_cast<size_t>(block) * size, size);
      target += size;
    }
  }
  return result;
}

}  // namespace orrery
