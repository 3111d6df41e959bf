// This is the part of kernels.h that moves elements. Only scatter_add changes bits of elements.

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "models/array/arith.h"
#include "models/array/dtype.h"
#include "models/array/kernels.h"
#include "models/array/strided_move.h"
#include "models/array/xla_cpu.h"
#include "models/base/check.h"

namespace orrery {

namespace {

template <class Word>
void copy_words(Word* target, const Strided& to, const Word* source, const Strided& from,
                const Shape& box) {
  target += to.first;
  source += from.first;
  if (box.rank() == 0) {
    *target = *source;
    return;
  }
  const size_t last = box.rank() - 1;
  const int64_t length = box[last];
  const int64_t rows = box.elements_before(last);
  std::vector<int64_t> index(last);
  for (int64_t row = 0; row < rows; ++row) {
    if (to.strides[last] == 1 && from.strides[last] == 1) {
      std::memcpy(target, source, static_cast<size_t>(length) * sizeof(Word));
    } else {
      for (int64_t i = 0; i < length; ++i)
        target[i * to.strides[last]] = source[i * from.strides[last]];
    }
    // This goes to the next row: the index is incremented, with carry into the dimension before.
    for (size_t d = last; d-- > 0;) {
      target += to.strides[d];
      source += from.strides[d];
      if (++index[d] < box[d])
        break;
      target -= to.strides[d] * box[d];
      source -= from.strides[d] * box[d];
      index[d] = 0;
    }
  }
}

/// Sets the elements of `result` at `to` to those of `operand` at `from`, for every index of `box`.
void copy(Tensor& result, const Strided& to, const Tensor& operand, const Strided& from,
          const Shape& box) {
  if (box.elements() == 0)
    return;
  const auto move = [&]<class Word>(Word /*of the element's size*/) {
    copy_words(result.as<Word>().data(), to, operand.as<Word>().data(), from, box);
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
    case 16:
      return move(std::array<uint64_t, 2>{});
    default:
      ORRERY_CHECK(false, "elements are 1, 2, 4, 8 or 16 bytes");
  }
}

/// Returns the elements of `operand` at `from`, in the shape `box`.
Tensor gather(const Tensor& operand, const Strided& from, Shape box) {
  Tensor result(operand.dtype(), std::move(box));
  copy(result, all_of(result.shape()), operand, from, result.shape());
  return result;
}
Tensor gather(const Tensor& operand, StridedMove placement) {
  return gather(operand, placement.from, std::move(placement.box));
}

/// Returns the first element of a slice of shape `part`, with `start` clamped into `whole`.
int64_t clamped_place(const Shape& whole, const Shape& part, std::span<const int64_t> start) {
  ORRERY_CHECK(part.rank() == whole.rank() && start.size() == whole.rank(),
               "a part has a start along every dimension");
  const std::vector<int64_t> strides = strides_of(whole);
  int64_t first = 0;
  for (size_t d = 0; d < whole.rank(); ++d) {
    ORRERY_CHECK(part[d] <= whole[d], "a part is no larger than the whole");
    first += arith::clamped(start[d], whole[d] - part[d]) * strides[d];
  }
  return first;
}

}  // namespace

Tensor reshape(const Tensor& operand, Shape shape) {
  return operand.reshaped(std::move(shape));
}

Tensor transpose(const Tensor& operand, std::span<const int64_t> permutation) {
  return gather(operand, transpose_move(operand.shape(), permutation));
}

Tensor slice(const Tensor& operand, const SliceBounds& bounds) {
  return gather(operand, slice_move(operand.shape(), bounds));
}

int64_t padded_extent(int64_t extent, const DimensionPadding& padding) {
  const int64_t between = checked_multiply(std::max(extent - 1, int64_t{0}), padding.interior);
  return checked_add(checked_add(extent, between), checked_add(padding.low, padding.high));
}

Tensor pad(const Tensor& operand, const Tensor& value, std::span<const DimensionPadding> padding) {
  ORRERY_CHECK(value.dtype() == operand.dtype() && value.shape().rank() == 0,
               "the padding is a scalar of the operand's dtype");
  Tensor result = broadcast_in_dim(value, padded_shape(operand.shape(), padding), {});
  const StridedMove placement = pad_move(operand.shape(), padding);
  copy(result, placement.to, operand, placement.from, placement.box);
  return result;
}

Tensor broadcast_in_dim(const Tensor& operand, Shape shape, std::span<const int64_t> dimensions) {
  return gather(operand, broadcast_move(operand.shape(), std::move(shape), dimensions));
}

Tensor reorder_sequence(const Tensor& operand, const SequenceOrder& order) {
  Tensor result(operand.dtype(), operand.shape());
  for (const StridedMove& placement : reorder_moves(operand.shape(), order))
    copy(result, placement.to, operand, placement.from, placement.box);
  return result;
}

Tensor dynamic_slice(const Tensor& operand, std::span<const int64_t> start, Shape sizes) {
  const int64_t first = clamped_place(operand.shape(), sizes, start);
  return gather(operand, {first, strides_of(operand.shape())}, std::move(sizes));
}

Tensor dynamic_update_slice(const Tensor& operand, const Tensor& update,
                            std::span<const int64_t> start) {
  ORRERY_CHECK(operand.dtype() == update.dtype(), "an update is of the operand's dtype");
  const int64_t first = clamped_place(operand.shape(), update.shape(), start);
  Tensor result = operand;
  copy(result, {first, strides_of(operand.shape())}, update, all_of(update.shape()),
       update.shape());
  return result;
}

int64_t element_as_index(const Tensor& indices, int64_t element) {
  ORRERY_CHECK(0 <= element && element < indices.elements(),
               "the index is one of the tensor's elements");
  return dispatch(indices.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    return arith::as_index(indices.as<E>()[static_cast<size_t>(element)]);
  });
}

Tensor take(const Tensor& operand, const Tensor& indices, size_t axis, OutOfRange mode,
            std::optional<NumberOrPair> fill) {
  const Shape& from = operand.shape();
  ORRERY_CHECK(axis < from.rank(), "rows are taken along a dimension of the operand");
  const int64_t rows = from[axis];
  const int64_t blocks = from.elements_before(axis);
  ORRERY_CHECK(mode == OutOfRange::Fill || rows > 0 || indices.elements() == 0,
               "an index is clamped to a row that is there");
  std::vector<int64_t> dims(from.dims().begin(), from.dims().end());
  const auto at = dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(at, indices.shape().dims().begin(), indices.shape().dims().end());
  Tensor result(operand.dtype(), Shape(std::move(dims)));
  if (result.elements() == 0)
    return result;

  const Tensor row_of_fill = dispatch(operand.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    const Shape one({from.elements_from(axis + 1)});
    if (fill)
      return full(operand.dtype(), one, *fill);
    Tensor row(operand.dtype(), one);
    std::fill(row.as<E>().begin(), row.as<E>().end(), arith::fill_element<E>());
    return row;
  });
  const size_t size = row_of_fill.bytes().size();
  std::byte* target = result.bytes().data();
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t i = 0; i < indices.elements(); ++i) {
      const arith::Row row = arith::row_of(element_as_index(indices, i), rows, mode);
      const std::byte* source =
          row.exists ? operand.bytes().data() + static_cast<size_t>(block * rows + row.row) * size
                     : row_of_fill.bytes().data();
      std::memcpy(target, source, size);
      target += size;
    }
  }
  return result;
}

Tensor scatter_add(Tensor operand, const Tensor& updates, const Tensor& indices, size_t axis,
                   OutOfRange mode, Numerics numerics) {
  const Shape& to = operand.shape();
  ORRERY_CHECK(axis < to.rank(), "rows are added to along a dimension of the operand");
  ORRERY_CHECK(operand.dtype() == updates.dtype(), "updates are of the operand's dtype");
  const int64_t rows = to[axis];
  ORRERY_CHECK(mode == OutOfRange::Fill || rows > 0 || indices.elements() == 0,
               "an index is clamped to a row that is there");
  const int64_t blocks = to.elements_before(axis);
  const auto size = static_cast<size_t>(to.elements_from(axis + 1));
  dispatch(operand.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    if constexpr (arith::kIsNumber<E>) {
      const std::span<E> sums = operand.as<E>();
      std::span<const E> left = updates.as<E>();
      for (int64_t block = 0; block < blocks; ++block) {
        for (int64_t i = 0; i < indices.elements(); ++i) {
          const std::span<const E> update = left.first(size);
          left = left.subspan(size);
          const arith::Row row = arith::row_of(element_as_index(indices, i), rows, mode);
          if (!row.exists)
            continue;
          const std::span<E> sum =
              sums.subspan(static_cast<size_t>(block * rows + row.row) * size, size);
          for (size_t e = 0; e < size; ++e)
            sum[e] = numerics == Numerics::XlaCpu ? arith::xla_cpu::add(sum[e], update[e])
                                                  : arith::add(sum[e], update[e]);
        }
      }
    } else {
      fail_check("a dtype of numbers", "pred has no sum", __FILE__, __LINE__);
    }
  });
  return operand;
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
