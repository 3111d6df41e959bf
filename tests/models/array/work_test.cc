#include "models/array/work.h"

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/array/text.h"
#include "tests/models/array/tensors.h"

namespace orrery {
namespace {

using test::set_element_from_double;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor numbers(Dtype dtype, const std::vector<double>& elements) {
  Tensor tensor(dtype, Shape{static_cast<int64_t>(elements.size())});
  for (size_t i = 0; i < elements.size(); ++i)
    set_element_from_double(tensor, static_cast<int64_t>(i), elements[i]);
  return tensor;
}

/// Returns the elements, separated by spaces.
std::string text(const Tensor& tensor) {
  std::string text;
  for (int64_t i = 0; i < tensor.elements(); ++i)
    text += (i == 0 ? "" : " ") + element_text(tensor, i);
  return text;
}

/// Returns the ranks that a fold of ranked elements keeps. `order` is the order of the fold.
std::string folded_ranks(Dtype dtype, Combine combine, const std::vector<std::vector<double>>& data,
                         const std::vector<size_t>& order) {
  const WorkType type = work_type(Entering::Ranked, dtype);
  const auto count = static_cast<int64_t>(data[0].size());
  Storage work = enter(Entering::Ranked, {type}, numbers(dtype, data[order[0]]), Rank(order[0]));
  for (size_t i = 1; i < order.size(); ++i) {
    const Storage next =
        enter(Entering::Ranked, {type}, numbers(dtype, data[order[i]]), Rank(order[i]));
    combine_into({type}, combine, work.data(), work.data(), next.data(), count);
  }
  return text(leave(Leaving::ItsRank, {type}, std::move(work), Dtype::S32, Shape{count},
                    static_cast<int64_t>(order.size())));
}

/// Returns the mean of a group of `ranks` ranks whose sum is `sum`.
std::string mean(Dtype work, double sum, Dtype result, int64_t ranks) {
  return text(
      leave(Leaving::Mean, {{work}}, numbers(work, {sum}).take_bytes(), result, {1}, ranks));
}

TEST_CASE("work types: pred is counted in s32, and a rank takes 4 bytes more") {
  CHECK(work_type(Entering::Same, Dtype::Pred) == WorkType{Dtype::Pred, false});
  CHECK(work_type(Entering::Counted, Dtype::Pred) == WorkType{Dtype::S32, false});
  CHECK(work_type(Entering::Counted, Dtype::S8) == WorkType{Dtype::S8, false});
  CHECK(itemsize(work_type(Entering::Counted, Dtype::Pred)) == Bytes(4));
  CHECK(itemsize(work_type(Entering::Ranked, Dtype::U8)) == Bytes(5));
  CHECK(itemsize(work_type(Entering::Ranked, Dtype::F64)) == Bytes(12));
}

TEST_CASE("ranked elements: the largest or smallest, of equal ones the lowest rank, in any order") {
  // The columns have one largest element, a tie, zeros of both signs, and a NaN at one rank.
  const std::vector<std::vector<double>> data = {
      {1, 5, -0.0, 2}, {3, 2, 0.0, kNaN}, {2, 5, -0.0, 1}};
  for (const std::vector<size_t>& order :
       {std::vector<size_t>{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}}) {
    for (const Dtype dtype : {Dtype::F16, Dtype::BF16, Dtype::F32, Dtype::F64}) {
      CHECK(folded_ranks(dtype, Combine::Max, data, order) == "1 0 0 2147483647");
      CHECK(folded_ranks(dtype, Combine::Min, data, order) == "0 1 0 2147483647");
    }
  }
}

TEST_CASE("ranked elements: integers by their value, pred with false before true") {
  const std::vector<std::vector<double>> data = {{-1, 1}, {-2, 0}, {0, 1}};
  CHECK(folded_ranks(Dtype::S8, Combine::Max, data, {0, 1, 2}) == "2 0");
  CHECK(folded_ranks(Dtype::S8, Combine::Min, data, {0, 1, 2}) == "1 1");
  const std::vector<std::vector<double>> preds = {{0, 1}, {1, 1}, {1, 0}};
  CHECK(folded_ranks(Dtype::Pred, Combine::Max, preds, {2, 1, 0}) == "1 0");
  CHECK(folded_ranks(Dtype::Pred, Combine::Min, preds, {2, 1, 0}) == "0 2");
}

TEST_CASE("a mean: integers become a float, then one division") {
  CHECK(mean(Dtype::S32, 6, Dtype::F32, 4) == "1.5");
  CHECK(mean(Dtype::S8, -56, Dtype::F32, 2) == "-28");
  // As an f32, 2^24 + 1 rounds to 2^24. A third of that, 5592405.33.., rounds to 5592405.5.
  CHECK(mean(Dtype::S32, 0x1p24 + 1, Dtype::F32, 3) == "5592405.5");
}

TEST_CASE("a mean: the quotient is rounded once, where f32 would be a tie that it is not") {
  // (1366 x 2^-10) / 8195 = 1365.4999... x 2^-23 is just below the middle of two f16 (a unit is
  // 2^-23). The nearest f32 is that middle.
  CHECK(mean(Dtype::F16, 1366 * 0x1p-10, Dtype::F16, 8195) ==
        text(numbers(Dtype::F16, {1365 * 0x1p-23})));
}

TEST_CASE("a mean: floats are divided once, rounded to their dtype") {
  // 1/3 in f16 keeps 11 bits: 0.333251953125 = 1365 x 2^-12. In bf16 it keeps 8 bits: 0.333984375 =
  // 171 x 2^-9.
  CHECK(mean(Dtype::F16, 1, Dtype::F16, 3) ==
        element_text(numbers(Dtype::F16, {1365 * 0x1p-12}), 0));
  CHECK(mean(Dtype::BF16, 1, Dtype::BF16, 3) ==
        element_text(numbers(Dtype::BF16, {171 * 0x1p-9}), 0));
  // 41 / 41 is 1; 41 x (1/41), each rounded to f32, is not.
  CHECK(mean(Dtype::F32, 41, Dtype::F32, 41) == "1");
}

}  // namespace
}  // namespace orrery
