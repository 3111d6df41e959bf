// This file has dot_general of kernels.h. Both operands become panels of the dtype of the sums,
// rows by contracting index. A tile of the result stays in registers while the contracting index
// runs upward. Tiles change speed only: every element's sum has the stated order.

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

#include "models/array/arith.h"
#include "models/array/dtype.h"
#include "models/array/kernels.h"
#include "models/base/check.h"

namespace orrery {

namespace {

/// A Strip is two machine vectors of T (a g++ and clang++ extension). + and * round per element.
template <class T>
struct Strip {
  typedef T Lanes __attribute__((vector_size(16)));  // NOLINT(modernize-use-using): not in g++
  static constexpr int64_t kWidth = 2 * int64_t{16} / int64_t{sizeof(T)};
  Lanes low;
  Lanes high;
};

template <class T>
void add_product(Strip<T>& sum, T factor, const Strip<T>& row) {
  sum.low = sum.low + factor * row.low;
  sum.high = sum.high + factor * row.high;
}

constexpr int64_t kTileRows = 4;

/// Sets result[row][column] to the sum over k of lhs[row][k] * rhs[k][column], all row-major.
template <class T>
void multiply_panels(T* result, const T* lhs, const T* rhs, int64_t rows, int64_t depth,
                     int64_t columns) {
  constexpr int64_t kWidth = Strip<T>::kWidth;
  std::vector<Strip<T>> strips(static_cast<size_t>(depth));
  for (int64_t column = 0; column < columns; column += kWidth) {
    // Columns past the last are computed from zeros (of the first strip) or leftovers, and not
    // stored.
    const int64_t width = std::min(kWidth, columns - column);
    for (int64_t k = 0; k < depth; ++k) {
      const T* from = rhs + k * columns + column;
      std::memcpy(&strips[static_cast<size_t>(k)], from, static_cast<size_t>(width) * sizeof(T));
    }
    for (int64_t row = 0; row < rows; row += kTileRows) {
      // Rows past the last repeat the last.
      const auto factors = [&](int64_t r) { return lhs + std::min(row + r, rows - 1) * depth; };
      const T* a0 = factors(0);
      const T* a1 = factors(1);
      const T* a2 = factors(2);
      const T* a3 = factors(3);
      Strip<T> sum0{};
      Strip<T> sum1{};
      Strip<T> sum2{};
      Strip<T> sum3{};
      for (int64_t k = 0; k < depth; ++k) {
        const Strip<T> b = strips[static_cast<size_t>(k)];
        add_product(sum0, a0[k], b);
        add_product(sum1, a1[k], b);
        add_product(sum2, a2[k], b);
        add_product(sum3, a3[k], b);
      }
      const Strip<T> sums[kTileRows] = {sum0, sum1, sum2, sum3};
      for (int64_t r = 0; r < std::min(kTileRows, rows - row); ++r) {
        std::memcpy(result + (row + r) * columns + column, &sums[r],
                    static_cast<size_t>(width) * sizeof(T));
      }
    }
  }
}

/// Does the same for complex numbers.
template <class Component>
void multiply_panels(arith::Complex<Component>* result, const arith::Complex<Component>* lhs,
                     const arith::Complex<Component>* rhs, int64_t rows, int64_t depth,
                     int64_t columns) {
  for (int64_t row = 0; row < rows; ++row) {
    arith::Complex<Component>* const sums = result + row * columns;
    for (int64_t k = 0; k < depth; ++k) {
      const arith::Complex<Component> factor = lhs[row * depth + k];
      for (int64_t column = 0; column < columns; ++column)
        sums[column] = arith::add(sums[column], arith::multiply(factor, rhs[k * columns + column]));
    }
  }
}

/// Returns the dimensions of `shape` that are neither in `contracting` nor in `batch`, ascending.
/// Checks both lists.
std::vector<int64_t> free_dimensions(const Shape& shape, std::span<const int64_t> contracting,
                                     std::span<const int64_t> batch) {
  std::vector<bool> used(shape.rank());
  for (const std::span<const int64_t> dimensions : {contracting, batch}) {
    for (const int64_t dimension : dimensions) {
      ORRERY_CHECK(dimension >= 0 && static_cast<size_t>(dimension) < shape.rank(),
                   "dimension numbers name dimensions of the operand");
      const auto d = static_cast<size_t>(dimension);
      ORRERY_CHECK(!used[d], "dimension numbers name a dimension once");
      used[d] = true;
    }
  }
  std::vector<int64_t> rest;
  for (size_t d = 0; d < shape.rank(); ++d) {
    if (!used[d])
      rest.push_back(static_cast<int64_t>(d));
  }
  return rest;
}

std::vector<int64_t> joined(std::initializer_list<std::span<const int64_t>> lists) {
  std::vector<int64_t> all;
  for (const std::span<const int64_t> list : lists)
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

std::vector<int64_t> extents(const Shape& shape, std::span<const int64_t> dimensions) {
  std::vector<int64_t> result;
  for (const int64_t dimension : dimensions)
    result.push_back(shape[static_cast<size_t>(dimension)]);
  return result;
}

template <class T>
void multiply_batches(Tensor& sums, const Tensor& lhs, const Tensor& rhs, int64_t batches,
                      int64_t rows, int64_t depth, int64_t columns) {
  for (int64_t batch = 0; batch < batches; ++batch) {
    multiply_panels(sums.as<T>().data() + batch * rows * columns,
                    lhs.as<T>().data() + batch * rows * depth,
                    rhs.as<T>().data() + batch * depth * columns, rows, depth, columns);
  }
}

}  // namespace

Dtype dot_sum_dtype(Dtype lhs, Dtype rhs, Dtype preferred) {
  const Dtype all[] = {lhs, rhs, preferred};
  if (std::any_of(std::begin(all), std::end(all), is_complex)) {
    const bool is_wide = std::find(std::begin(all), std::end(all), Dtype::C128) != std::end(all);
    return is_wide ? Dtype::C128 : Dtype::C64;
  }
  if (std::find(std::begin(all), std::end(all), Dtype::F64) != std::end(all))
    return Dtype::F64;
  if (std::any_of(std::begin(all), std::end(all), is_float))
    return Dtype::F32;
  const bool is_long = std::any_of(std::begin(all), std::end(all),
                                   [](Dtype dtype) { return itemsize(dtype) == Bytes(8); });
  return is_long ? Dtype::U64 : Dtype::U32;
}

Tensor dot_general(const Tensor& lhs, const Tensor& rhs, const DotDimensions& dimensions,
                   Dtype preferred) {
  const std::vector<int64_t> lhs_free =
      free_dimensions(lhs.shape(), dimensions.lhs_contracting, dimensions.lhs_batch);
  const std::vector<int64_t> rhs_free =
      free_dimensions(rhs.shape(), dimensions.rhs_contracting, dimensions.rhs_batch);
  const Shape batch(extents(lhs.shape(), dimensions.lhs_batch));
  const Shape contracting(extents(lhs.shape(), dimensions.lhs_contracting));
  const Shape rows(extents(lhs.shape(), lhs_free));
  const Shape columns(extents(rhs.shape(), rhs_free));
  ORRERY_CHECK(batch == Shape(extents(rhs.shape(), dimensions.rhs_batch)),
               "batch dimensions agree in extent");
  ORRERY_CHECK(contracting == Shape(extents(rhs.shape(), dimensions.rhs_contracting)),
               "contracting dimensions agree in extent");

  const Dtype wide = dot_sum_dtype(lhs.dtype(), rhs.dtype(), preferred);
  const Tensor left = convert(
      transpose(lhs, joined({dimensions.lhs_batch, lhs_free, dimensions.lhs_contracting})), wide);
  const Tensor right = convert(
      transpose(rhs, joined({dimensions.rhs_batch, dimensions.rhs_contracting, rhs_free})), wide);
  Tensor sums(wide, Shape(joined({batch.dims(), rows.dims(), columns.dims()})));
  dispatch(wide, [&](auto tag) {
    using E = typename decltype(tag)::type;
    if constexpr (std::is_same_v<E, arith::U32> || std::is_same_v<E, arith::U64> ||
                  std::is_same_v<E, arith::F32> || std::is_same_v<E, arith::F64>) {
      multiply_batches<decltype(E::value)>(sums, left, right, batch.elements(), rows.elements(),
                                           contracting.elements(), columns.elements());
      // This makes every NaN the canonical one.
      if constexpr (arith::kIsFloat<E>) {
        for (E& sum : sums.as<E>())
          sum = arith::round<E>(sum.value);
      }
    } else if constexpr (arith::kIsComplex<E>) {
      multiply_batches<E>(sums, left, right, batch.elements(), rows.elements(),
                          contracting.elements(), columns.elements());
    } else {
      ORRERY_CHECK(false, "sums are of u32, u64, f32, f64, c64 or c128");
    }
  });
  return convert(sums, preferred);
}

}  // namespace orrery
