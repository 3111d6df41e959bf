// Tests reductions by hand, and random ones against folds of one element at a time.

#include <cstring>
#include <optional>

#include <doctest/doctest.h>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "tests/models/array/random_tensors.h"
#include "tests/models/array/tensors.h"
#include "tests/support/property.h"

namespace orrery {

namespace {

using test::random_normalish;
using test::set_element_from_double;

const std::vector<int64_t> kRows = {0};
const std::vector<int64_t> kColumns = {1};

Tensor numbers(Dtype dtype, Shape shape, const std::vector<double>& elements) {
  Tensor tensor(dtype, std::move(shape));
  for (size_t i = 0; i < elements.size(); ++i)
    set_element_from_double(tensor, static_cast<int64_t>(i), elements[i]);
  return tensor;
}

std::vector<std::string> texts(const Tensor& tensor) {
  std::vector<std::string> texts;
  for (int64_t i = 0; i < tensor.elements(); ++i)
    texts.push_back(element_text(tensor, i));
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("reduce: a matrix along its rows, its columns, both, and neither") {
  const Tensor matrix = iota(Dtype::S32, {2, 3});  // 0 1 2 / 3 4 5
  const std::vector<int64_t> both = {1, 0};
  CHECK(texts(reduce(matrix, Combine::Add, kRows)) == Texts{"3", "5", "7"});
  CHECK(texts(reduce(matrix, Combine::Add, kColumns)) == Texts{"3", "12"});
  CHECK(texts(reduce(matrix, Combine::Add, both)) == Texts{"15"});
  CHECK(texts(reduce(matrix, Combine::Max, kColumns)) == Texts{"2", "5"});
  CHECK(texts(reduce(matrix, Combine::Min, kRows)) == Texts{"0", "1", "2"});
  CHECK(reduce(matrix, Combine::Add, {}) == matrix);
}

TEST_CASE("reduce: of nothing is the identity") {
  const auto empty = [](Dtype dtype, Combine combine) {
    return texts(reduce(Tensor(dtype, {0, 1}), combine, kRows)).front();
  };
  CHECK(empty(Dtype::F32, Combine::Add) == "0");
  CHECK(empty(Dtype::F32, Combine::Max) == "-Infinity");
  CHECK(empty(Dtype::BF16, Combine::Min) == "Infinity");
  CHECK(empty(Dtype::F8E4M3FN, Combine::Max) == "-450");  // -448, the largest
  CHECK(empty(Dtype::S8, Combine::Max) == "-128");
  CHECK(empty(Dtype::S8, Combine::Min) == "127");
  CHECK(empty(Dtype::U8, Combine::Max) == "0");
  CHECK(empty(Dtype::U8, Combine::Min) == "255");
  CHECK(empty(Dtype::Pred, Combine::Max) == "false");
  CHECK(empty(Dtype::Pred, Combine::Min) == "true");
}

TEST_CASE("reduce: every value of every dtype folds with the identity to itself") {
  for (const Dtype dtype : all_dtypes()) {
    if (is_complex(dtype))
      continue;  // has sums only
    CAPTURE(name(dtype));
    const int64_t patterns = dtype == Dtype::Pred ? 2 : 256;
    Tensor tensor(dtype, {patterns, 1});
    const int64_t bits = itemsize(dtype).count() * 8;
    for (int64_t i = 0; i < patterns; ++i) {  // the upper eight bits run through all patterns
      const auto pattern = static_cast<uint64_t>(i);
      set_element_bits(tensor, i, dtype == Dtype::Pred ? pattern : pattern << (bits - 8));
    }
    for (const Combine combine : {Combine::Max, Combine::Min})
      CHECK(reduce(tensor, combine, kColumns) == tensor.reshaped({patterns}));
  }
}

TEST_CASE("reduce: sums begin at +0, so that a sum of -0 is +0") {
  CHECK(texts(reduce(numbers(Dtype::F32, {2}, {-0.0, -0.0}), Combine::Add, kRows)) == Texts{"0"});
  CHECK(texts(reduce(numbers(Dtype::F32, {2}, {-0.0, 0.0}), Combine::Max, kRows)) == Texts{"0"});
  CHECK(texts(reduce(numbers(Dtype::F32, {2}, {0.0, -0.0}), Combine::Min, kRows)) == Texts{"-0"});
}

TEST_CASE("reduce: one NaN makes the largest, the smallest and the sum NaN") {
  const Tensor tensor = numbers(Dtype::F16, {3}, {1, std::numeric_limits<double>::quiet_NaN(), 2});
  for (const Combine combine : {Combine::Add, Combine::Max, Combine::Min})
    CHECK(texts(reduce(tensor, combine, kRows)) == Texts{"NaN"});
}

TEST_CASE("reduce: bf16 is summed in f32 and rounded once") {
  // bf16 has 8 bits: 256 + 1 is 256 each time. In f32 the 8 ones count, and 264 is a bf16.
  const Tensor tensor = numbers(Dtype::BF16, {9}, {256, 1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(texts(reduce(tensor, Combine::Add, kRows)) == Texts{"264"});
  // f32 has 24 bits: 2^24 + 1 + 1 is 2^24, and 1 + 1 + 2^24 is 2^24 + 2. So the results show the
  // order.
  CHECK(texts(reduce(numbers(Dtype::F32, {3}, {0x1p24, 1, 1}), Combine::Add, kRows)) ==
        Texts{"16777216"});
  CHECK(texts(reduce(numbers(Dtype::F32, {3}, {1, 1, 0x1p24}), Combine::Add, kRows)) ==
        Texts{"16777218"});
}

TEST_CASE("reduce: integers wrap") {
  CHECK(texts(reduce(numbers(Dtype::S8, {2}, {127, 1}), Combine::Add, kRows)) == Texts{"-128"});
}

TEST_CASE("reduce: each element is the fold, row-major, of those it stands for") {
  test::holds_for_all("any dtype, shape and axes", [] {
    const Dtype dtype = all_dtypes()[test::in_range<size_t>(1, all_dtypes().size())];
    const auto rank = test::in_range<size_t>(0, 5);
    std::vector<int64_t> dims(rank);
    for (int64_t& extent : dims)
      extent = test::in_range<int64_t>(0, 4);
    const Shape shape(dims);
    Random random(test::any_int<uint64_t>());
    const Tensor tensor = random_normalish(dtype, shape, random);
    const Combine combine =
        is_complex(dtype) ? Combine::Add : test::one_of(Combine::Add, Combine::Max, Combine::Min);
    std::vector<int64_t> axes;
    std::vector<int64_t> kept;
    for (size_t d = 0; d < rank; ++d)
      (test::any_bool() ? axes : kept).push_back(static_cast<int64_t>(d));

    const Tensor result = reduce(tensor, combine, axes);
    std::vector<Tensor> folds(static_cast<size_t>(result.elements()));
    const bool in_f32 = combine == Combine::Add && is_float(dtype) && itemsize(dtype) < Bytes(4);
    const Dtype wide = in_f32 ? Dtype::F32 : dtype;
    for (Tensor& fold : folds)
      fold = reduce(Tensor(wide, {0}), combine, kRows);
    for (int64_t place = 0; place < tensor.elements(); ++place) {
      std::vector<int64_t> index(rank);
      int64_t rest = place;
      for (size_t d = rank; d-- > 0; rest /= shape[d])
        index[d] = rest % shape[d];
      size_t target = 0;
      for (const int64_t d : kept)
        target = target * static_cast<size_t>(shape[static_cast<size_t>(d)]) +
                 static_cast<size_t>(index[static_cast<size_t>(d)]);
      Tensor element(dtype, {});
      std::copy_n(tensor.bytes().begin() + place * itemsize(dtype).count(), itemsize(dtype).count(),
                  element.bytes().begin());
      const Tensor next = convert(element, wide);
      combine_into(wide, combine, folds[target].bytes().data(), folds[target].bytes().data(),
                   next.bytes().data(), 1);
    }
    for (size_t i = 0; i < folds.size(); ++i)
      RC_ASSERT(element_text(convert(folds[i], dtype), 0) ==
                element_text(result, static_cast<int64_t>(i)));
  });
}

}  // namespace orrery
