#include "models/array/shape.h"

#include <doctest/doctest.h>

#include "models/array/tensor.h"
#include "models/base/check.h"

namespace orrery {

TEST_CASE("shape: counts of elements") {
  const Shape shape = {2, 3, 5};
  CHECK(shape.rank() == 3);
  CHECK(shape[1] == 3);
  CHECK(shape.elements() == 30);
  CHECK(shape.elements_before(0) == 1);
  CHECK(shape.elements_before(1) == 2);
  CHECK(shape.elements_before(3) == 30);
  CHECK(shape.elements_from(0) == 30);
  CHECK(shape.elements_from(2) == 5);
  CHECK(shape.elements_from(3) == 1);
  CHECK(Shape().elements() == 1);
  CHECK(Shape({4, 0}).elements() == 0);
}

TEST_CASE("shape: an element count that leaves 64 bits throws, when it is asked for") {
  const int64_t half = int64_t{1} << 32;
  CHECK(Shape({half, half / 4}).elements() == int64_t{1} << 62);
  const Shape large = {half, half / 2};  // 2^63
  CHECK_THROWS_AS(large.elements(), Overflow);
  CHECK(large.elements_before(1) == half);
  CHECK(Shape({half, half, 0}).elements() == 0);
}

TEST_CASE("shape: dimensions replaced, removed, added") {
  const Shape shape = {2, 3, 5};
  CHECK(shape.with(1, 7) == Shape({2, 7, 5}));
  CHECK(shape.without(0) == Shape({3, 5}));
  CHECK(shape.without(2) == Shape({2, 3}));
  CHECK(shape.inserted(0, 7) == Shape({7, 2, 3, 5}));
  CHECK(shape.inserted(3, 7) == Shape({2, 3, 5, 7}));
  CHECK(shape == Shape({2, 3, 5}));
  CHECK_THROWS_AS(shape.with(3, 1), InternalError);
  CHECK_THROWS_AS(shape.without(3), InternalError);
  CHECK_THROWS_AS(shape.inserted(4, 1), InternalError);
  CHECK_THROWS_AS(Shape({2, -1}), InternalError);
}

TEST_CASE("shape: text") {
  CHECK(Shape().text() == "[]");
  CHECK(Shape({7}).text() == "[7]");
  CHECK(Shape({2, 3, 0}).text() == "[2,3,0]");
}

TEST_CASE("tensor: begins as zeros of its dtype and shape") {
  const Tensor tensor(Dtype::F64, {2, 3});
  CHECK(tensor.dtype() == Dtype::F64);
  CHECK(tensor.shape() == Shape({2, 3}));
  CHECK(tensor.elements() == 6);
  CHECK(tensor.size() == Bytes(48));
  CHECK(tensor.bytes().size() == 48);
  for (const double x : tensor.as<double>())
    CHECK(x == 0);
  CHECK(Tensor() == Tensor(Dtype::F32, {}));
  CHECK(Tensor(Dtype::F32, {0, 3}).bytes().empty());
}

TEST_CASE("tensor: equal bits are equal, -0 is not +0, and all NaNs are one value") {
  Tensor a(Dtype::F16, {3});
  Tensor b(Dtype::F16, {3});
  CHECK(a == b);
  a.as<uint16_t>()[1] = 0x8000;
  CHECK_FALSE(a == b);
  b.as<uint16_t>()[1] = 0x8000;
  CHECK(a == b);
  a.as<uint16_t>()[2] = 0x7c01;
  CHECK_FALSE(a == b);
  b.as<uint16_t>()[2] = 0xfe37;
  CHECK(a == b);
  b.as<uint16_t>()[2] = 0x7c00;  // infinity
  CHECK_FALSE(a == b);
  // The same bits under another dtype or shape make another tensor.
  CHECK_FALSE(Tensor(Dtype::F16, {3}) == Tensor(Dtype::BF16, {3}));
  CHECK_FALSE(Tensor(Dtype::F16, {3}) == Tensor(Dtype::F16, {3, 1}));
}

TEST_CASE("tensor: integers that look like NaNs of a float are compared as bits") {
  Tensor a(Dtype::U32, {1});
  Tensor b(Dtype::U32, {1});
  a.as<uint32_t>()[0] = 0x7fc00000U;
  b.as<uint32_t>()[0] = 0x7fc00001U;
  CHECK_FALSE(a == b);
}

TEST_CASE("tensor: a reshape keeps the elements") {
  Tensor tensor(Dtype::S8, {2, 3});
  tensor.as<int8_t>()[4] = 7;
  const Tensor flat = tensor.reshaped({6});
  CHECK(flat.shape() == Shape({6}));
  CHECK(flat.as<int8_t>()[4] == 7);
  CHECK(flat.reshaped({2, 3}) == tensor);
  CHECK_THROWS_AS(tensor.reshaped({5}), InternalError);
}

}  // namespace orrery
