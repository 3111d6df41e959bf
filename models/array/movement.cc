// The part of kernels.h that moves elements: no bit of an element changes.

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "models/array/dispatch.h"
#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/array/xla_cpu.h"
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

/// Elements of a tensor: one for each index of a box, `strides` apart along each dimension.
struct Place {
  int64_t first = 0;
  std::vector<int64_t> strides;
};

Place all_of(const Tensor& tensor) {
  return {0, strides_of(tensor.shape())};
}

template <class Word>
void copy_words(Word* target, const Place& to, const Word* source, const Place& from,
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
    // To the next row: increment the index, with carry into the dimension before.
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
void copy(Tensor& result, const Place& to, const Tensor& operand, const Place& from,
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

/// The elements of `operand` at `from`, in the shape `box`.
Tensor gather(const Tensor& operand, const Place& from, Shape box) {
  Tensor result(operand.dtype(), std::move(box));
  copy(result, all_of(result), operand, from, result.shape());
  return result;
}

/// `start` clamped so that a slice of shape `part` lies in `whole`.
int64_t clamped_place(const Shape& whole, const Shape& part, std::span<const int64_t> start) {
  ORRERY_CHECK(part.rank() == whole.rank() && start.size() == whole.rank(),
               "a part has a start along every dimension");
  const std::vector<int64_t> strides = strides_of(whole);
  int64_t first = 0;
  for (size_t d = 0; d < whole.rank(); ++d) {
    ORRERY_CHECK(part[d] <= whole[d], "a part is no larger than the whole");
    first += std::clamp(start[d], int64_t{0}, whole[d] - part[d]) * strides[d];
  }
  return first;
}

/// The value where an index has no row: see take.
template <class E>
E fill_element() {
  if constexpr (arith::kIsFloat<E> || arith::kIsComplex<E>)
    return arith::convert<E>(arith::F64{std::numeric_limits<double>::quiet_NaN()});
  else if constexpr (arith::kIsInteger<E>)
    return {arith::kIsSigned<decltype(E::value)> ? arith::kSmallest<decltype(E::value)>
                                                 : arith::kLargest<decltype(E::value)>};
  else
    return {1};
}

/// The row of an index of take; empty where it is out of range.
std::optional<int64_t> row_of(int64_t index, int64_t rows, OutOfRange mode) {
  if (mode == OutOfRange::Clip)
    return std::clamp(index, int64_t{0}, rows - 1);
  const int64_t row = index < 0 ? index + rows : index;
  return row >= 0 && row < rows ? std::optional(row) : std::nullopt;
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
  Place place;
  for (const int64_t dimension : permutation) {
    ORRERY_CHECK(dimension >= 0 && static_cast<size_t>(dimension) < from.rank(),
                 "a permutation names dimensions of the operand");
    const auto d = static_cast<size_t>(dimension);
    ORRERY_CHECK(!named[d], "a permutation names every dimension once");
    named[d] = true;
    dims.push_back(from[d]);
    place.strides.push_back(operand_strides[d]);
  }
  return gather(operand, place, Shape(std::move(dims)));
}

Tensor slice(const Tensor& operand, const SliceBounds& bounds) {
  const Shape& from = operand.shape();
  ORRERY_CHECK(bounds.start.size() == from.rank() && bounds.limit.size() == from.rank() &&
                   (bounds.strides.empty() || bounds.strides.size() == from.rank()),
               "a slice bounds every dimension");
  Place place = all_of(operand);
  std::vector<int64_t> dims;
  for (size_t d = 0; d < from.rank(); ++d) {
    const int64_t start = bounds.start[d];
    const int64_t limit = bounds.limit[d];
    const int64_t step = bounds.strides.empty() ? 1 : bounds.strides[d];
    ORRERY_CHECK(0 <= start && start <= limit && limit <= from[d],
                 "a slice stays inside its operand");
    ORRERY_CHECK(step > 0, "a slice runs forward");
    place.first += start * place.strides[d];
    dims.push_back(ceil_divide(limit - start, step));
    place.strides[d] *= step;
  }
  return gather(operand, place, Shape(std::move(dims)));
}

int64_t padded_extent(int64_t extent, const DimensionPadding& padding) {
  const int64_t between = checked_multiply(std::max(extent - 1, int64_t{0}), padding.interior);
  return checked_add(checked_add(extent, between), checked_add(padding.low, padding.high));
}

Tensor pad(const Tensor& operand, const Tensor& value, std::span<const DimensionPadding> padding) {
  const Shape& from = operand.shape();
  ORRERY_CHECK(padding.size() == from.rank(), "every dimension is padded");
  ORRERY_CHECK(value.dtype() == operand.dtype() && value.shape().rank() == 0,
               "the padding is a scalar of the operand's dtype");
  std::vector<int64_t> dims;
  for (size_t d = 0; d < from.rank(); ++d)
    dims.push_back(padded_extent(from[d], padding[d]));
  Tensor result = broadcast_in_dim(value, Shape(std::move(dims)), {});

  // Element i goes to low + i * step; those that fall outside are dropped.
  Place source = all_of(operand);
  Place target = all_of(result);
  std::vector<int64_t> kept;
  for (size_t d = 0; d < from.rank(); ++d) {
    const auto [low, high, interior] = padding[d];
    const int64_t step = interior + 1;
    const int64_t room = result.shape()[d] - low;
    const int64_t first = low < 0 ? ceil_divide(-low, step) : 0;
    const int64_t limit = room > 0 ? std::min(from[d], ceil_divide(room, step)) : 0;
    if (limit <= first)
      return result;
    kept.push_back(limit - first);
    source.first += first * source.strides[d];
    target.first += (low + first * step) * target.strides[d];
    target.strides[d] *= step;
  }
  copy(result, target, operand, source, Shape(std::move(kept)));
  return result;
}

Tensor broadcast_in_dim(const Tensor& operand, Shape shape, std::span<const int64_t> dimensions) {
  const Shape& from = operand.shape();
  ORRERY_CHECK(dimensions.size() == from.rank(), "every dimension has its place in the result");
  const std::vector<int64_t> operand_strides = strides_of(from);
  Place place{0, std::vector<int64_t>(shape.rank(), 0)};
  for (size_t d = 0; d < from.rank(); ++d) {
    const auto to = static_cast<size_t>(dimensions[d]);
    ORRERY_CHECK(dimensions[d] >= 0 && to < shape.rank(), "a place is a dimension of the result");
    ORRERY_CHECK(from[d] == 1 || from[d] == shape[to], "an extent is 1 or the result's");
    if (from[d] != 1)
      place.strides[to] = operand_strides[d];
  }
  return gather(operand, place, std::move(shape));
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
  copy(result, {first, strides_of(operand.shape())}, update, all_of(update), update.shape());
  return result;
}

int64_t element_as_index(const Tensor& indices, int64_t element) {
  const int64_t index = element_as_int64(indices, element);
  return index < 0 && !is_signed(indices.dtype()) ? std::numeric_limits<int64_t>::max() : index;
}

Tensor take(const Tensor& operand, const Tensor& indices, size_t axis, OutOfRange mode,
            std::optional<double> fill) {
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
    std::fill(row.as<E>().begin(), row.as<E>().end(), fill_element<E>());
    return row;
  });
  const size_t size = row_of_fill.bytes().size();
  std::byte* target = result.bytes().data();
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t i = 0; i < indices.elements(); ++i) {
      const auto row = row_of(element_as_index(indices, i), rows, mode);
      const std::byte* source =
          row ? operand.bytes().data() + static_cast<size_t>(block * rows + *row) * size
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
          const auto row = row_of(element_as_index(indices, i), rows, mode);
          if (!row)
            continue;
          const std::span<E> sum =
              sums.subspan(static_cast<size_t>(block * rows + *row) * size, size);
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
