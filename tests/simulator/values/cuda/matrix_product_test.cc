// Tests which dot_general is a product of matrices, and where its elements lie.

#include <optional>
#include <string>
#include <variant>

#include <doctest/doctest.h>

#include "simulator/values/cuda/fast_products.h"
#include "tests/simulator/values/host_rig.h"

namespace orrery::test {
namespace {

using cuda::MatrixOperand;
using cuda::MatrixProduct;
using cuda::NoProduct;

struct DotCase {
  Shape lhs;
  Shape rhs;
  Lists numbers;  // contracting of both, batch of both
  Dtype dtype = Dtype::F32;
  std::optional<Dtype> preferred = {};
  Bytes alignment = Bytes(256);
};

std::variant<MatrixProduct, NoProduct> product_of(const DotCase& of) {
  HostRig rig({{"x", 1}});
  rig.argument("a", {Tensor(of.dtype, of.lhs)});
  rig.argument("b", {Tensor(of.dtype, of.rhs)});
  std::vector<std::pair<std::string, Attribute>> attributes = {{"dimension_numbers", of.numbers}};
  if (of.preferred)
    attributes.emplace_back("preferred_element_type", *of.preferred);
  rig.op("dot_general", "d", {"a", "b"}, attributes);
  rig.lower();
  return cuda::matrix_product(rig.program, rig.program.ops.back(), of.alignment);
}
MatrixProduct product(const DotCase& of) {
  const auto product = product_of(of);
  REQUIRE(std::holds_alternative<MatrixProduct>(product));
  return std::get<MatrixProduct>(product);
}
std::string why_not(const DotCase& of) {
  const auto product = product_of(of);
  REQUIRE(std::holds_alternative<NoProduct>(product));
  return std::get<NoProduct>(product).why;
}

/// This contracts the last dimension of the left operand with the first of the right one.
const Lists kPlain = {{1}, {0}, {}, {}};

TEST_CASE("matrix product: rows by columns, as they lie") {
  const MatrixProduct plain = product({{5, 3}, {3, 7}, kPlain});
  CHECK(plain.batch == 1);
  CHECK(plain.rows == 5);
  CHECK(plain.columns == 7);
  CHECK(plain.depth == 3);
  CHECK(plain.lhs == MatrixOperand{true, 3, 0, 256});
  CHECK(plain.rhs == MatrixOperand{false, 7, 0, 256});
  CHECK(plain.result_alignment == 256);
}

TEST_CASE("matrix product: either index may count elements side by side") {
  const MatrixProduct turned = product({{3, 5}, {7, 3}, {{0}, {1}, {}, {}}});
  CHECK(turned.rows == 5);
  CHECK(turned.columns == 7);
  CHECK(turned.lhs == MatrixOperand{false, 5, 0, 256});
  CHECK(turned.rhs == MatrixOperand{true, 3, 0, 256});
}

TEST_CASE("matrix product: a batch may come first, or between the others") {
  const MatrixProduct first = product({{4, 5, 3}, {4, 3, 7}, {{2}, {1}, {0}, {0}}});
  CHECK(first.batch == 4);
  CHECK(first.lhs == MatrixOperand{true, 3, 15, 256});
  CHECK(first.rhs == MatrixOperand{false, 7, 21, 256});
  // The shapes are [rows, batch, depth] by [depth, batch, columns], as for the heads of attention.
  const MatrixProduct between = product({{5, 4, 3}, {3, 4, 7}, {{2}, {0}, {1}, {1}}});
  CHECK(between.batch == 4);
  CHECK(between.lhs == MatrixOperand{true, 12, 3, 256});
  CHECK(between.rhs == MatrixOperand{false, 28, 7, 256});
  CHECK(why_not({{5, 3, 4}, {3, 4, 7}, {{1}, {0}, {2}, {1}}}) ==
        "its batch dimensions are the innermost");
}

TEST_CASE("matrix product: a group of dimensions in a row is like one") {
  const MatrixProduct free = product({{2, 5, 3}, {3, 7, 4}, {{2}, {0}, {}, {}}});
  CHECK(free.rows == 10);
  CHECK(free.columns == 28);
  const MatrixProduct contracted = product({{5, 2, 3}, {2, 3, 7}, {{1, 2}, {0, 1}, {}, {}}});
  CHECK(contracted.depth == 6);
  CHECK(contracted.lhs == MatrixOperand{true, 6, 0, 256});
  // Sums may add in any order, so the pairs may be named in any order.
  CHECK(product({{5, 2, 3}, {2, 3, 7}, {{2, 1}, {1, 0}, {}, {}}}) == contracted);
  const MatrixProduct batch = product({{2, 4, 5, 3}, {2, 4, 3, 7}, {{3}, {2}, {0, 1}, {0, 1}}});
  CHECK(batch.batch == 8);
}

TEST_CASE("matrix product: none, where a group is not in a row") {
  CHECK(why_not({{5, 3, 2}, {3, 7}, {{1}, {0}, {}, {}}}) == "its free dimensions are not in a row");
  CHECK(why_not({{2, 5, 3}, {2, 3, 7}, {{0, 2}, {0, 1}, {}, {}}}) ==
        "its contracting dimensions are not in a row");
  // The dimensions are consecutive in the left operand, but in another order in the right one.
  CHECK(why_not({{5, 2, 3}, {3, 2, 7}, {{1, 2}, {1, 0}, {}, {}}}) ==
        "its contracting dimensions are not in a row");
  // The result has its batch in the order in which the dimensions are named.
  CHECK(why_not({{2, 4, 5, 3}, {2, 4, 3, 7}, {{3}, {2}, {1, 0}, {1, 0}}}) ==
        "its batch dimensions are not in a row");
}

TEST_CASE("matrix product: dimensions of one index do not matter") {
  CHECK(product({{5, 1, 3}, {3, 1, 7}, {{2}, {0}, {}, {}}}) == product({{5, 3}, {3, 7}, kPlain}));
  const MatrixProduct row = product({{3}, {3, 7}, {{0}, {0}, {}, {}}});
  CHECK(row.rows == 1);
  CHECK(row.lhs == MatrixOperand{true, 3, 0, 256});
  const MatrixProduct outer = product({{5}, {7}, {{}, {}, {}, {}}});
  CHECK(outer.depth == 1);
  CHECK(outer.lhs == MatrixOperand{true, 1, 0, 256});
  CHECK(outer.rhs == MatrixOperand{true, 1, 0, 256});
}

TEST_CASE("matrix product: none without elements") {
  CHECK(why_not({{5, 0}, {0, 7}, kPlain}) == "no elements");
  CHECK(why_not({{0, 3}, {3, 7}, kPlain}) == "no elements");
}

TEST_CASE("matrix product: dtypes that are summed by cuBLASLt as by dot_general") {
  for (const Dtype dtype : {Dtype::F16, Dtype::BF16, Dtype::F32, Dtype::F64}) {
    const MatrixProduct own = product({{5, 3}, {3, 7}, kPlain, dtype});
    CHECK(own.operands == dtype);
    CHECK(own.result == dtype);
  }
  CHECK(product({{5, 3}, {3, 7}, kPlain, Dtype::BF16, Dtype::F32}).result == Dtype::F32);
  CHECK(why_not({{5, 3}, {3, 7}, kPlain, Dtype::S8}) == "s8");
  CHECK(why_not({{5, 3}, {3, 7}, kPlain, Dtype::F8E4M3FN}) == "f8e4m3fn");
  CHECK(why_not({{5, 3}, {3, 7}, kPlain, Dtype::C64}) == "c64");
  CHECK(why_not({{5, 3}, {3, 7}, kPlain, Dtype::F32, Dtype::F64}) == "f64 from f32");
}

TEST_CASE("matrix product: addresses are aligned as buffers are, and no more than 256 counts") {
  CHECK(product({{5, 3}, {3, 7}, kPlain, Dtype::F32, {}, Bytes(64)}).lhs.alignment == 64);
  CHECK(product({{5, 3}, {3, 7}, kPlain, Dtype::F32, {}, Bytes(4096)}).lhs.alignment == 256);
}

TEST_CASE("matrix product: a value inside of a buffer is aligned as it lies there") {
  HostRig rig({{"x", 1}});
  rig.argument("a", {Tensor(Dtype::F32, {6})});
  rig.op("split", Names{"first", "second"}, {"a"}, {{"sizes", Integers{3, 3}}});
  rig.op("dot_general", "d", {"first", "second"}, {{"dimension_numbers", Lists{{0}, {0}, {}, {}}}});
  rig.lower();
  const auto made = cuda::matrix_product(rig.program, rig.program.ops.back(), Bytes(256));
  const MatrixProduct& product = std::get<MatrixProduct>(made);
  const Bytes offset = rig.program.value(rig.value("second")).offset;
  CHECK(product.lhs.alignment == 256);
  CHECK(product.rhs.alignment == (offset == Bytes(12) ? 4 : 256));
}

}  // namespace
}  // namespace orrery::test
