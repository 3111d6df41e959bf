// Tests scatter_add, which adds rows to rows, one after another.

#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "tests/models/array/tensors.h"
#include "tests/support/property.h"

namespace orrery {
namespace {

Tensor s32(Shape shape, const std::vector<int32_t>& numbers) {
  Tensor tensor(Dtype::S32, std::move(shape));
  std::copy(numbers.begin(), numbers.end(), tensor.as<int32_t>().begin());
  return tensor;
}

std::vector<int32_t> numbers(const Tensor& tensor) {
  const auto elements = tensor.as<int32_t>();
  return {elements.begin(), elements.end()};
}

TEST_CASE(
    "scatter_add: rows are added where the indices say; a row that is named twice gets both") {
  const Tensor table = s32({3, 2}, {0, 1, 2, 3, 4, 5});
  const Tensor updates = s32({4, 2}, {10, 10, 20, 20, 30, 30, 40, 40});
  // The indices name the last row, the first, the last again, and one that does not exist.
  const Tensor rows = s32({4}, {2, 0, -1, 3});
  CHECK(numbers(scatter_add(table, updates, rows, 0, OutOfRange::Fill)) ==
        std::vector<int32_t>{20, 21, 2, 3, 44, 45});
  // Clipped, -1 is the first row and 3 is the last.
  CHECK(numbers(scatter_add(table, updates, rows, 0, OutOfRange::Clip)) ==
        std::vector<int32_t>{50, 51, 2, 3, 54, 55});
}

TEST_CASE("scatter_add: along an inner dimension, with indices of several dimensions") {
  const Tensor table = s32({2, 3}, {0, 0, 0, 0, 0, 0});
  const Tensor updates = s32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor columns = s32({2, 2}, {0, 2, 2, 0});
  CHECK(numbers(scatter_add(table, updates, columns, 1, OutOfRange::Fill)) ==
        std::vector<int32_t>{1 + 4, 0, 2 + 3, 5 + 8, 0, 6 + 7});
}

TEST_CASE("scatter_add: each addition is rounded, in the order of the indices") {
  // 2048 + 1 is 2048 in f16, and 1 + 1 + 2048 is 2050.
  const auto sum = [](double first, const std::vector<double>& then) {
    Tensor into = full(Dtype::F16, {1}, first);
    std::vector<Tensor> parts;
    for (const double each : then)
      parts.push_back(full(Dtype::F16, {1}, each));
    const std::vector<std::reference_wrapper<const Tensor>> together(parts.begin(), parts.end());
    Tensor rows(Dtype::S32, {static_cast<int64_t>(then.size())});
    return element_text(
        scatter_add(std::move(into), concatenate(together, 0), rows, 0, OutOfRange::Fill), 0);
  };
  CHECK(sum(2048, {1, 1}) == "2048");
  CHECK(sum(0, {1, 1, 2048}) == "2050");
}

TEST_CASE("scatter_add: by XlaCpu a sum is flushed, and a row without updates is as it was") {
  const double subnormal = 0x1p-127;
  const Tensor table = full(Dtype::F32, {2}, subnormal);
  const Tensor updates = full(Dtype::F32, {1}, subnormal);
  const Tensor row(Dtype::S32, {1});
  const Tensor xla = scatter_add(table, updates, row, 0, OutOfRange::Fill, Numerics::XlaCpu);
  CHECK(xla.as<float>()[0] == 0.0F);
  CHECK(xla.as<float>()[1] == static_cast<float>(subnormal));
  const Tensor ieee = scatter_add(table, updates, row, 0, OutOfRange::Fill);
  CHECK(ieee.as<float>()[0] == 0x1p-126F);
}

TEST_CASE("scatter_add: is the transpose of take") {
  test::holds_for_all("<y, take(x)> = <scatter_add(0, y), x>", [] {
    const Shape shape({test::in_range<int64_t>(1, 4), test::in_range<int64_t>(1, 4)});
    const auto axis = test::in_range<size_t>(0, 2);
    const bool clips = test::any_bool();
    const OutOfRange mode = clips ? OutOfRange::Clip : OutOfRange::Fill;
    const auto small = [](Shape of) {
      Tensor tensor(Dtype::S32, std::move(of));
      for (int32_t& each : tensor.as<int32_t>())
        each = test::in_range<int32_t>(-9, 10);
      return tensor;
    };
    const auto dot = [](const Tensor& a, const Tensor& b) {
      int64_t sum = 0;
      for (size_t i = 0; i < static_cast<size_t>(a.elements()); ++i)
        sum += int64_t{a.as<int32_t>()[i]} * b.as<int32_t>()[i];
      return sum;
    };
    const Tensor x = small(shape);
    Tensor indices(Dtype::S32, {3});
    for (int32_t& each : indices.as<int32_t>())
      each = test::in_range<int32_t>(-6, 7);
    // Updates with an index outside have no effect.
    const Tensor taken =
        take(x, indices, axis, mode, clips ? std::nullopt : std::optional<double>(0));
    const Tensor y = small(taken.shape());
    RC_ASSERT(dot(y, taken) ==
              dot(scatter_add(Tensor(Dtype::S32, shape), y, indices, axis, mode), x));
  });
}

TEST_CASE("take: fills with the value that is given, converted") {
  const Tensor outside = s32({1}, {5});
  const auto filled = [&](Dtype dtype, double fill) {
    return element_text(take(Tensor(dtype, {1}), outside, 0, OutOfRange::Fill, fill), 0);
  };
  CHECK(filled(Dtype::F32, 0) == "0");
  CHECK(filled(Dtype::BF16, 1.5) == "1.5");
  CHECK(filled(Dtype::S8, -7) == "-7");
}

}  // namespace
}  // namespace orrery
