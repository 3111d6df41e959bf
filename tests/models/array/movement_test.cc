// Tests movement of elements by hand, and random tensors by the definition of each index.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>

#include <doctest/doctest.h>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/base/check.h"
#include "models/base/random.h"
#include "tests/models/array/tensors.h"
#include "tests/support/property.h"

namespace orrery {

namespace {

using test::identical;

std::vector<int64_t> index_of(const Shape& shape, int64_t place) {
  std::vector<int64_t> index(shape.rank());
  for (size_t d = shape.rank(); d-- > 0;) {
    index[d] = place % shape[d];
    place /= shape[d];
  }
  return index;
}

int64_t place_of(const Shape& shape, const std::vector<int64_t>& index) {
  int64_t place = 0;
  for (size_t d = 0; d < shape.rank(); ++d)
    place = place * shape[d] + index[d];
  return place;
}

/// Returns a shape of up to 4 dimensions with extents up to 4, sometimes 0.
Shape random_shape() {
  std::vector<int64_t> dims(test::in_range<size_t>(0, 5));
  for (int64_t& extent : dims)
    extent = test::in_range<int64_t>(0, 5);
  return Shape(dims);
}

/// Returns a tensor of random bits and random dtype. Floats may have NaN patterns.
Tensor random_tensor(Shape shape) {
  const auto which = test::in_range<size_t>(1, all_dtypes().size());
  Random random(test::any_int<uint64_t>());
  const Dtype dtype = all_dtypes()[which];
  Tensor tensor(dtype, std::move(shape));
  for (std::byte& byte : tensor.bytes())
    byte = static_cast<std::byte>(random.below(256));
  return tensor;
}

/// Returns the bits of an element, or the bits of both parts if it is complex.
std::vector<uint64_t> bits(const Tensor& tensor, int64_t element) {
  if (!is_complex(tensor.dtype()))
    return {element_bits(tensor, element)};
  const Tensor both = parts(tensor);
  return {element_bits(both, 2 * element), element_bits(both, 2 * element + 1)};
}

Tensor counting(Shape shape) {
  return iota(Dtype::S32, std::move(shape));
}

std::vector<int32_t> values(const Tensor& tensor) {
  return {tensor.as<int32_t>().begin(), tensor.as<int32_t>().end()};
}

}  // namespace

TEST_CASE("transpose: a matrix, and the inverse brings it back") {
  // 0 1 2      0 3
  // 3 4 5  ->  1 4
  //            2 5
  const std::vector<int64_t> swap = {1, 0};
  const Tensor result = transpose(counting({2, 3}), swap);
  CHECK(result.shape() == Shape({3, 2}));
  CHECK(values(result) == std::vector<int32_t>{0, 3, 1, 4, 2, 5});
  CHECK(transpose(result, swap) == counting({2, 3}));
}

TEST_CASE("transpose: elements of every dtype are moved whole") {
  for (const Dtype dtype : all_dtypes()) {
    CAPTURE(name(dtype));
    Tensor tensor(dtype, {2, 3});
    for (size_t i = 0; i < tensor.bytes().size(); ++i)
      tensor.bytes()[i] = static_cast<std::byte>(dtype == Dtype::Pred ? i % 2 : i + 1);
    const Tensor turned = transpose(tensor, std::vector<int64_t>{1, 0});
    for (int64_t row = 0; row < 2; ++row)
      for (int64_t column = 0; column < 3; ++column)
        CHECK(bits(turned, 2 * column + row) == bits(tensor, 3 * row + column));
  }
}

TEST_CASE("transpose: element i of the result is the element whose index is i permuted") {
  test::holds_for_all("any tensor, any permutation", [] {
    const Shape shape = random_shape();
    const Tensor tensor = random_tensor(shape);
    std::vector<int64_t> permutation(shape.rank());
    std::iota(permutation.begin(), permutation.end(), int64_t{0});
    Random random(test::any_int<uint64_t>());
    for (size_t i = permutation.size(); i > 1; --i)
      std::swap(permutation[i - 1], permutation[random.below(i)]);

    const Tensor result = transpose(tensor, permutation);
    RC_ASSERT(result.shape().rank() == shape.rank());
    for (size_t d = 0; d < shape.rank(); ++d)
      RC_ASSERT(result.shape()[d] == shape[static_cast<size_t>(permutation[d])]);
    for (int64_t place = 0; place < result.elements(); ++place) {
      const std::vector<int64_t> index = index_of(result.shape(), place);
      std::vector<int64_t> from(shape.rank());
      for (size_t d = 0; d < shape.rank(); ++d)
        from[static_cast<size_t>(permutation[d])] = index[d];
      RC_ASSERT(bits(result, place) == bits(tensor, place_of(shape, from)));
    }
  });
}

TEST_CASE("transpose: what is no permutation is a bug of the caller") {
  const Tensor tensor(Dtype::F32, {2, 3});
  for (const std::vector<int64_t>& wrong :
       {std::vector<int64_t>{0}, {0, 0}, {0, 2}, {-1, 0}, {0, 1, 2}}) {
    CHECK_THROWS_AS(transpose(tensor, wrong), InternalError);
  }
}

TEST_CASE("slice: a part of a matrix") {
  //  0  1  2  3
  //  4  5  6  7
  //  8  9 10 11
  const Tensor tensor = counting({3, 4});
  CHECK(values(slice(tensor, {{1, 1}, {3, 3}, {}})) == std::vector<int32_t>{5, 6, 9, 10});
  CHECK(slice(tensor, {{0, 0}, {3, 4}, {}}) == tensor);
  // With a limit of 3, every other column gives 0 and 2. With a limit of 4, it gives the same.
  CHECK(values(slice(tensor, {{0, 0}, {1, 3}, {1, 2}})) == std::vector<int32_t>{0, 2});
  CHECK(values(slice(tensor, {{0, 0}, {1, 4}, {1, 2}})) == std::vector<int32_t>{0, 2});
  CHECK(values(slice(tensor, {{0, 0}, {3, 4}, {2, 3}})) == std::vector<int32_t>{0, 3, 8, 11});
  CHECK(slice(tensor, {{1, 4}, {3, 4}, {}}).shape() == Shape({2, 0}));
  CHECK(slice(counting({}), {{}, {}, {}}) == counting({}));
}

TEST_CASE("slice: element i of the result is element start + i * stride") {
  test::holds_for_all("any tensor, any bounds", [] {
    const Shape shape = random_shape();
    const Tensor tensor = random_tensor(shape);
    SliceBounds bounds;
    for (const int64_t extent : shape.dims()) {
      const auto start = test::in_range<int64_t>(0, extent + 1);
      const auto limit = test::in_range<int64_t>(start, extent + 1);
      const auto stride = test::in_range<int64_t>(1, 4);
      bounds.start.push_back(start);
      bounds.limit.push_back(limit);
      bounds.strides.push_back(stride);
    }
    const Tensor result = slice(tensor, bounds);
    for (size_t d = 0; d < shape.rank(); ++d) {
      int64_t inside = 0;
      for (int64_t i = bounds.start[d]; i < bounds.limit[d]; i += bounds.strides[d])
        ++inside;
      RC_ASSERT(result.shape()[d] == inside);
    }
    for (int64_t place = 0; place < result.elements(); ++place) {
      std::vector<int64_t> index = index_of(result.shape(), place);
      for (size_t d = 0; d < shape.rank(); ++d)
        index[d] = bounds.start[d] + index[d] * bounds.strides[d];
      RC_ASSERT(bits(result, place) == bits(tensor, place_of(shape, index)));
    }
  });
}

TEST_CASE("slice: bounds outside the operand are a bug of the caller") {
  const Tensor tensor = counting({4});
  CHECK_NOTHROW(slice(tensor, {{4}, {4}, {}}));
  CHECK_THROWS_AS(slice(tensor, {{0}, {5}, {}}), InternalError);
  CHECK_THROWS_AS(slice(tensor, {{-1}, {4}, {}}), InternalError);
  CHECK_THROWS_AS(slice(tensor, {{3}, {2}, {}}), InternalError);
  CHECK_THROWS_AS(slice(tensor, {{0}, {4}, {0}}), InternalError);
  CHECK_THROWS_AS(slice(tensor, {{0, 0}, {4, 4}, {}}), InternalError);
}

TEST_CASE("concatenate: parts in order, along either dimension") {
  const Tensor a = counting({2, 2});  // 0 1 / 2 3
  const Tensor b =
      elementwise(Binary::Add, counting({2, 2}), full(Dtype::S32, {2, 2}, 4));  // 4 5 / 6 7
  CHECK(values(concatenate({a, b}, 0)) == std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(values(concatenate({a, b}, 1)) == std::vector<int32_t>{0, 1, 4, 5, 2, 3, 6, 7});
  CHECK(concatenate({a, b}, 1).shape() == Shape({2, 4}));
  CHECK(concatenate({a}, 1) == a);
}

TEST_CASE("concatenate: puts together what slices took apart") {
  test::holds_for_all("any tensor, cut in three", [] {
    const Shape shape = random_shape().inserted(0, test::in_range<int64_t>(0, 5));
    const Tensor tensor = random_tensor(shape);
    const auto dimension = test::in_range<size_t>(0, shape.rank());
    const auto first = test::in_range<int64_t>(0, shape[dimension] + 1);
    const auto second = test::in_range<int64_t>(first, shape[dimension] + 1);
    const auto part = [&](int64_t start, int64_t limit) {
      SliceBounds bounds;
      bounds.start.assign(shape.rank(), 0);
      bounds.limit.assign(shape.dims().begin(), shape.dims().end());
      bounds.start[dimension] = start;
      bounds.limit[dimension] = limit;
      return slice(tensor, bounds);
    };
    const Tensor a = part(0, first);
    const Tensor b = part(first, second);
    const Tensor c = part(second, shape[dimension]);
    RC_ASSERT(identical(concatenate({a, b, c}, dimension), tensor));
  });
}

TEST_CASE("concatenate: parts that do not fit are a bug of the caller") {
  const Tensor a(Dtype::F32, {2, 2});
  const Tensor integers(Dtype::S32, {2, 2});
  const Tensor wide(Dtype::F32, {2, 3});
  const Tensor flat(Dtype::F32, {2});
  CHECK_THROWS_AS(concatenate({}, 0), InternalError);
  CHECK_THROWS_AS(concatenate({a}, 2), InternalError);
  CHECK_THROWS_AS(concatenate({a, integers}, 0), InternalError);
  CHECK_THROWS_AS(concatenate({a, wide}, 0), InternalError);
  CHECK_THROWS_AS(concatenate({a, flat}, 0), InternalError);
  CHECK(concatenate({a, wide}, 1).shape() == Shape({2, 5}));
}

TEST_CASE("pad: around, between and off the ends") {
  const Tensor row = iota(Dtype::S32, {3});  // 0 1 2
  const Tensor nine = full(Dtype::S32, {}, 9);
  const auto padded = [&](int64_t low, int64_t high, int64_t interior) {
    const DimensionPadding padding = {low, high, interior};
    return values(pad(row, nine, std::span(&padding, 1)));
  };
  using Row = std::vector<int32_t>;
  CHECK(padded(0, 0, 0) == Row{0, 1, 2});
  CHECK(padded(2, 1, 0) == Row{9, 9, 0, 1, 2, 9});
  CHECK(padded(0, 0, 2) == Row{0, 9, 9, 1, 9, 9, 2});
  CHECK(padded(-1, 1, 0) == Row{1, 2, 9});
  // With the interior the row is 0 9 1 9 2. Two less at the front leave 1 9 2, and two less at both
  // ends leave the 1.
  CHECK(padded(-2, 0, 1) == Row{1, 9, 2});
  CHECK(padded(-1, 0, 1) == Row{9, 1, 9, 2});
  CHECK(padded(-2, -2, 1) == Row{1});
  CHECK(padded(-1, -3, 1) == Row{9});
  // One end loses more elements than there are, and the other end gains elements.
  CHECK(padded(-4, 2, 0) == Row{9});
  CHECK(padded(2, -4, 0) == Row{9});
}

TEST_CASE("pad: element i is where low + i * (interior + 1) is, and the padding everywhere else") {
  test::holds_for_all("any tensor, any padding", [] {
    const Shape shape = random_shape();
    const Tensor tensor = random_tensor(shape);
    Tensor value(tensor.dtype(), {});
    std::vector<DimensionPadding> padding;
    for (const int64_t extent : shape.dims()) {
      DimensionPadding drawn;
      drawn.interior = test::in_range<int64_t>(0, 3);
      drawn.low = test::in_range<int64_t>(-4, 4);
      drawn.high = test::in_range<int64_t>(-4, 4);
      drawn.high += std::max<int64_t>(0, -padded_extent(extent, drawn));
      padding.push_back(drawn);
    }
    const Tensor result = pad(tensor, value, padding);
    for (int64_t place = 0; place < result.elements(); ++place) {
      const std::vector<int64_t> index = index_of(result.shape(), place);
      std::vector<int64_t> from(shape.rank());
      bool is_element = true;
      for (size_t d = 0; d < shape.rank(); ++d) {
        const int64_t step = padding[d].interior + 1;
        const int64_t past = index[d] - padding[d].low;
        from[d] = past / step;
        is_element = is_element && past >= 0 && past % step == 0 && from[d] < shape[d];
      }
      RC_ASSERT(bits(result, place) == (is_element ? bits(tensor, place_of(shape, from))
                                                   : bits(Tensor(tensor.dtype(), {1}), 0)));
    }
  });
}

TEST_CASE("broadcast_in_dim: a row down a matrix, a column across it, a scalar everywhere") {
  const Tensor row = iota(Dtype::S32, {3});
  const std::vector<int64_t> across = {1};
  const std::vector<int64_t> down = {0};
  const std::vector<int64_t> both = {0, 1};
  CHECK(values(broadcast_in_dim(row, {2, 3}, across)) == std::vector<int32_t>{0, 1, 2, 0, 1, 2});
  CHECK(values(broadcast_in_dim(row, {3, 2}, down)) == std::vector<int32_t>{0, 0, 1, 1, 2, 2});
  CHECK(values(broadcast_in_dim(reshape(row, {3, 1}), {3, 2}, both)) ==
        std::vector<int32_t>{0, 0, 1, 1, 2, 2});
  CHECK(broadcast_in_dim(full(Dtype::S32, {}, 7), {2, 2}, {}) == full(Dtype::S32, {2, 2}, 7));
  CHECK_THROWS_AS(broadcast_in_dim(row, {2, 4}, across), InternalError);
}

TEST_CASE("broadcast_in_dim: element i is the operand's at i's places in the named dimensions") {
  test::holds_for_all("any tensor, spread over any shape", [] {
    const Shape shape = random_shape();
    const Tensor tensor = random_tensor(shape);
    std::vector<int64_t> dims;
    std::vector<int64_t> dimensions;
    for (const int64_t extent : shape.dims()) {
      for (auto more = test::in_range(0, 3); more > 0; --more)
        dims.push_back(test::in_range<int64_t>(0, 4));
      dimensions.push_back(static_cast<int64_t>(dims.size()));
      dims.push_back(extent == 1 ? test::in_range<int64_t>(0, 4) : extent);
    }
    const Tensor result = broadcast_in_dim(tensor, Shape(dims), dimensions);
    for (int64_t place = 0; place < result.elements(); ++place) {
      const std::vector<int64_t> index = index_of(result.shape(), place);
      std::vector<int64_t> from(shape.rank());
      for (size_t d = 0; d < shape.rank(); ++d)
        from[d] = shape[d] == 1 ? 0 : index[static_cast<size_t>(dimensions[d])];
      RC_ASSERT(bits(result, place) == bits(tensor, place_of(shape, from)));
    }
  });
}

TEST_CASE("reorder_sequence: each rank gets a chunk from the front and one from the back") {
  const Tensor tensor = counting({8});
  const Tensor reordered = reorder_sequence(tensor, {0, 4, false});
  CHECK(values(reordered) == std::vector<int32_t>{0, 7, 1, 6, 2, 5, 3, 4});
  CHECK(values(reorder_sequence(tensor, {0, 4, true})) ==
        std::vector<int32_t>{0, 2, 4, 6, 7, 5, 3, 1});
  // Four chunks of two columns: 0 1, 2 3, 4 5, 6 7.
  CHECK(values(reorder_sequence(reshape(tensor, {1, 8}), {1, 2, false})) ==
        std::vector<int32_t>{0, 1, 6, 7, 2, 3, 4, 5});
}

TEST_CASE("reorder_sequence: part r has chunks r and 2 cp - 1 - r, and the inverse undoes it") {
  test::holds_for_all("any tensor, any number of ranks", [] {
    Shape shape = random_shape().inserted(0, 0);
    const auto dimension = test::in_range<size_t>(0, shape.rank());
    const auto ranks = test::in_range<int64_t>(1, 6);
    const auto size = test::in_range<int64_t>(0, 4);
    shape = shape.with(dimension, 2 * ranks * size);
    const Tensor tensor = random_tensor(shape);
    const auto chunk = [&](const Tensor& of, int64_t index) {
      SliceBounds bounds;
      bounds.start.assign(shape.rank(), 0);
      bounds.limit.assign(shape.dims().begin(), shape.dims().end());
      bounds.start[dimension] = index * size;
      bounds.limit[dimension] = (index + 1) * size;
      return slice(of, bounds);
    };
    const Tensor there = reorder_sequence(tensor, {dimension, ranks, false});
    RC_ASSERT(there.shape() == shape);
    for (int64_t rank = 0; rank < ranks; ++rank) {
      RC_ASSERT(identical(chunk(there, 2 * rank), chunk(tensor, rank)));
      RC_ASSERT(identical(chunk(there, 2 * rank + 1), chunk(tensor, 2 * ranks - 1 - rank)));
    }
    RC_ASSERT(identical(reorder_sequence(there, {dimension, ranks, true}), tensor));
    const Tensor back = reorder_sequence(tensor, {dimension, ranks, true});
    RC_ASSERT(identical(reorder_sequence(back, {dimension, ranks, false}), tensor));
  });
}

TEST_CASE("reorder_sequence: chunks of unequal sizes are a bug of the caller") {
  const Tensor tensor = counting({12});
  CHECK_NOTHROW(reorder_sequence(tensor, {0, 6, false}));
  CHECK_THROWS_AS(reorder_sequence(tensor, {0, 4, false}), InternalError);
  CHECK_THROWS_AS(reorder_sequence(tensor, {0, 0, false}), InternalError);
  CHECK_THROWS_AS(reorder_sequence(tensor, {1, 2, false}), InternalError);
  CHECK_THROWS_AS(reorder_sequence(counting({3}), {0, 1, false}), InternalError);
}

TEST_CASE("dynamic_slice: begins at the start index, clamped to fit") {
  const Tensor tensor = counting({5});
  const auto from = [&](int64_t start) {
    return values(dynamic_slice(tensor, std::span(&start, 1), {2}));
  };
  using Row = std::vector<int32_t>;
  CHECK(from(0) == Row{0, 1});
  CHECK(from(3) == Row{3, 4});
  CHECK(from(4) == Row{3, 4});  // 5 - 2 is the last start
  CHECK(from(INT64_MAX) == Row{3, 4});
  CHECK(from(-1) == Row{0, 1});
  CHECK(from(INT64_MIN) == Row{0, 1});
}

TEST_CASE("dynamic_slice: is the static slice of the clamped start") {
  test::holds_for_all("any tensor, any start", [] {
    const Shape shape = random_shape();
    const Tensor tensor = random_tensor(shape);
    std::vector<int64_t> start;
    std::vector<int64_t> sizes;
    SliceBounds bounds;
    for (const int64_t extent : shape.dims()) {
      sizes.push_back(test::in_range<int64_t>(0, extent + 1));
      start.push_back(test::in_range<int64_t>(-3, 8));
      const int64_t clamped = std::max<int64_t>(0, std::min(start.back(), extent - sizes.back()));
      bounds.start.push_back(clamped);
      bounds.limit.push_back(clamped + sizes.back());
    }
    const Tensor part = dynamic_slice(tensor, start, Shape(sizes));
    RC_ASSERT(identical(part, slice(tensor, bounds)));

    // An update at the same start is found there, and all other elements are unchanged.
    const Tensor zeros(tensor.dtype(), Shape(sizes));
    const Tensor updated = dynamic_update_slice(tensor, zeros, start);
    RC_ASSERT(identical(dynamic_slice(updated, start, Shape(sizes)), zeros));
    RC_ASSERT(identical(dynamic_update_slice(updated, part, start), tensor));
  });
}

TEST_CASE("take: rows by index, and the fill for an index outside") {
  // The rows are 0 1 / 2 3 / 4 5.
  const Tensor table = counting({3, 2});
  const Tensor ids = [] {
    Tensor tensor(Dtype::S32, {4});
    const int32_t numbers[] = {2, 0, -1, 3};
    std::copy(std::begin(numbers), std::end(numbers), tensor.as<int32_t>().begin());
    return tensor;
  }();
  const int32_t least = INT32_MIN;
  CHECK(take(table, ids, 0, OutOfRange::Clip).shape() == Shape({4, 2}));
  CHECK(values(take(table, ids, 0, OutOfRange::Clip)) ==
        std::vector<int32_t>{4, 5, 0, 1, 0, 1, 4, 5});
  CHECK(values(take(table, ids, 0, OutOfRange::Fill)) ==
        std::vector<int32_t>{4, 5, 0, 1, 4, 5, least, least});
  // There are two columns, so indices 2 and 3 are outside.
  CHECK(take(table, ids, 1, OutOfRange::Clip).shape() == Shape({3, 4}));
  CHECK(values(take(table, ids, 1, OutOfRange::Clip)) ==
        std::vector<int32_t>{1, 0, 0, 1, 3, 2, 2, 3, 5, 4, 4, 5});
}

TEST_CASE("take: fills with NaN, the smallest, the largest, or true") {
  Tensor outside(Dtype::S32, {});
  outside.as<int32_t>()[0] = 1;
  const auto filled = [&](Dtype dtype) {
    return element_text(take(Tensor(dtype, {1}), outside, 0, OutOfRange::Fill), 0);
  };
  CHECK(filled(Dtype::F32) == "NaN");
  CHECK(filled(Dtype::BF16) == "NaN");
  CHECK(filled(Dtype::S8) == "-128");
  CHECK(filled(Dtype::U8) == "255");
  CHECK(filled(Dtype::Pred) == "true");
  const Tensor given =
      take(Tensor(Dtype::C64, {1}), outside, 0, OutOfRange::Fill, NumberOrPair(1, -2));
  CHECK(element_text(given, 0) == "[1,-2]");
}

TEST_CASE("take: element i of the result is the operand's at the row its index names") {
  test::holds_for_all("any tensor, any indices", [] {
    const Shape shape = random_shape().inserted(0, test::in_range<int64_t>(1, 5));
    const Tensor tensor = random_tensor(shape);
    const auto axis = test::in_range<size_t>(0, shape.rank());
    const int64_t rows = shape[axis];
    RC_PRE(rows > 0);
    Tensor indices(Dtype::S8, {2, 3});
    for (int64_t i = 0; i < 6; ++i)
      set_element_from_int64(indices, i, test::in_range<int64_t>(0, rows));

    const Tensor result = take(tensor, indices, axis, OutOfRange::Fill);
    RC_ASSERT(identical(result, take(tensor, indices, axis, OutOfRange::Clip)));
    RC_ASSERT(result.shape() == shape.with(axis, 3).inserted(axis, 2));
    for (int64_t place = 0; place < result.elements(); ++place) {
      std::vector<int64_t> index = index_of(result.shape(), place);
      const int64_t row = element_as_int64(indices, index[axis] * 3 + index[axis + 1]);
      index.erase(index.begin() + static_cast<std::ptrdiff_t>(axis));
      index[axis] = row;
      RC_ASSERT(bits(result, place) == bits(tensor, place_of(shape, index)));
    }
  });
}

TEST_CASE("iota: each element is its index along the dimension") {
  CHECK(values(iota(Dtype::S32, {2, 3}, 0)) == std::vector<int32_t>{0, 0, 0, 1, 1, 1});
  CHECK(values(iota(Dtype::S32, {2, 3}, 1)) == std::vector<int32_t>{0, 1, 2, 0, 1, 2});
  CHECK(element_text(iota(Dtype::BF16, {300}, 0), 257) == "256");  // 8 bits: ties to even
  CHECK(iota(Dtype::F32, {2, 0}, 1).shape() == Shape({2, 0}));
}

TEST_CASE("reshape: the same elements in the same order") {
  CHECK(reshape(counting({2, 3}), {3, 2}) == counting({3, 2}));
  CHECK_THROWS_AS(reshape(counting({2, 3}), {4}), InternalError);
}

}  // namespace orrery
