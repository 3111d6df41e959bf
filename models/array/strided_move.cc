#include "models/array/strided_move.h"

#include <algorithm>
#include <utility>

#include "models/base/check.h"

namespace orrery {

std::vector<int64_t> strides_of(const Shape& shape) {
  std::vector<int64_t> strides(shape.rank());
  for (size_t d = 0; d < shape.rank(); ++d)
    strides[d] = shape.elements_from(d + 1);
  return strides;
}

Strided all_of(const Shape& shape) {
  return {0, strides_of(shape)};
}

namespace {

/// Returns a move to every element of a result of the box's shape.
StridedMove gathered(Shape box, Strided from) {
  Strided to = all_of(box);
  return {std::move(box), std::move(from), std::move(to)};
}

}  // namespace

StridedMove transpose_move(const Shape& operand, std::span<const int64_t> permutation) {
  ORRERY_CHECK(permutation.size() == operand.rank(), "a permutation names every dimension");
  const std::vector<int64_t> strides = strides_of(operand);
  std::vector<bool> named(operand.rank());
  std::vector<int64_t> dims;
  Strided place;
  for (const int64_t dimension : permutation) {
    ORRERY_CHECK(dimension >= 0 && static_cast<size_t>(dimension) < operand.rank(),
                 "a permutation names dimensions of the operand");
    const auto d = static_cast<size_t>(dimension);
    ORRERY_CHECK(!named[d], "a permutation names every dimension once");
    named[d] = true;
    dims.push_back(operand[d]);
    place.strides.push_back(strides[d]);
  }
  return gathered(Shape(std::move(dims)), std::move(place));
}

StridedMove slice_move(const Shape& operand, const SliceBounds& bounds) {
  ORRERY_CHECK(bounds.start.size() == operand.rank() && bounds.limit.size() == operand.rank() &&
                   (bounds.strides.empty() || bounds.strides.size() == operand.rank()),
               "a slice bounds every dimension");
  Strided place = all_of(operand);
  std::vector<int64_t> dims;
  for (size_t d = 0; d < operand.rank(); ++d) {
    const int64_t start = bounds.start[d];
    const int64_t limit = bounds.limit[d];
    const int64_t step = bounds.strides.empty() ? 1 : bounds.strides[d];
    ORRERY_CHECK(0 <= start && start <= limit && limit <= operand[d],
                 "a slice stays inside its operand");
    ORRERY_CHECK(step > 0, "a slice runs forward");
    place.first += start * place.strides[d];
    dims.push_back(ceil_divide(limit - start, step));
    place.strides[d] *= step;
  }
  return gathered(Shape(std::move(dims)), std::move(place));
}

StridedMove broadcast_move(const Shape& operand, Shape result,
                           std::span<const int64_t> dimensions) {
  ORRERY_CHECK(dimensions.size() == operand.rank(), "every dimension has its place in the result");
  const std::vector<int64_t> strides = strides_of(operand);
  Strided place{0, std::vector<int64_t>(result.rank(), 0)};
  for (size_t d = 0; d < operand.rank(); ++d) {
    const auto to = static_cast<size_t>(dimensions[d]);
    ORRERY_CHECK(dimensions[d] >= 0 && to < result.rank(), "a place is a dimension of the result");
    ORRERY_CHECK(operand[d] == 1 || operand[d] == result[to], "an extent is 1 or the result's");
    if (operand[d] != 1)
      place.strides[to] = strides[d];
  }
  return gathered(std::move(result), std::move(place));
}

Shape padded_shape(const Shape& operand, std::span<const DimensionPadding> padding) {
  ORRERY_CHECK(padding.size() == operand.rank(), "every dimension is padded");
  std::vector<int64_t> dims;
  for (size_t d = 0; d < operand.rank(); ++d)
    dims.push_back(padded_extent(operand[d], padding[d]));
  return Shape(std::move(dims));
}

/// Element i goes to low + i * step. Elements that fall outside are dropped.
StridedMove pad_move(const Shape& operand, std::span<const DimensionPadding> padding) {
  const Shape result = padded_shape(operand, padding);
  Strided source = all_of(operand);
  Strided target = all_of(result);
  std::vector<int64_t> kept;
  for (size_t d = 0; d < operand.rank(); ++d) {
    const auto [low, high, interior] = padding[d];
    const int64_t step = interior + 1;
    const int64_t room = result[d] - low;
    const int64_t first = low < 0 ? ceil_divide(-low, step) : 0;
    const int64_t limit = room > 0 ? std::min(operand[d], ceil_divide(room, step)) : 0;
    if (limit <= first)
      return {Shape({0}), {0, {1}}, {0, {1}}};
    kept.push_back(limit - first);
    source.first += first * source.strides[d];
    target.first += (low + first * step) * target.strides[d];
    target.strides[d] *= step;
  }
  return {Shape(std::move(kept)), std::move(source), std::move(target)};
}

std::array<StridedMove, 2> reorder_moves(const Shape& operand, const SequenceOrder& order) {
  ORRERY_CHECK(order.dimension < operand.rank(), "a dimension of the operand is reordered");
  const int64_t extent = operand[order.dimension];
  ORRERY_CHECK(order.cp_size >= 1 && extent % 2 == 0 && extent / 2 % order.cp_size == 0,
               "the chunks have one size");
  // The dimension becomes two: a pair of chunks for each rank, and the elements of a chunk.
  const int64_t chunk = extent / 2 / order.cp_size;
  const Shape box = operand.with(order.dimension, chunk).inserted(order.dimension, order.cp_size);
  const auto chunks = [&](int64_t first, int64_t step) {
    Strided place = all_of(operand);
    const int64_t stride = place.strides[order.dimension];
    place.first = first * stride;
    place.strides.insert(place.strides.begin() + static_cast<std::ptrdiff_t>(order.dimension),
                         step * stride);
    return place;
  };
  const auto moved = [&](Strided contiguous, Strided reordered) {
    return order.to_contiguous ? StridedMove{box, std::move(reordered), std::move(contiguous)}
                               : StridedMove{box, std::move(contiguous), std::move(reordered)};
  };
  return {moved(chunks(0, chunk), chunks(0, 2 * chunk)),
          moved(chunks(extent - chunk, -chunk), chunks(chunk, 2 * chunk))};
}

}  // namespace orrery
