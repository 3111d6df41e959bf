// Tests the definitions of collectives by hand, and against definition_by_element.h.

#include "verifier/definition/definitions.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "tests/models/array/random_tensors.h"
#include "tests/models/array/tensors.h"
#include "tests/support/property.h"
#include "tests/verifier/definition_by_element.h"

using namespace orrery;

namespace {

using orrery::test::random_normalish;
using orrery::test::set_element_from_double;

using Parameters = std::vector<std::pair<std::string, Attribute>>;
using IndexGroups = std::vector<std::vector<int64_t>>;

Op collective(OpKind kind, const Parameters& parameters = {}) {
  Op op;
  op.kind = kind;
  op.attributes.set("axis_name", std::vector<std::string>{"x"});
  for (const auto& [name, value] : parameters)
    op.attributes.set(name, value);
  return op;
}

Tensor numbers(Dtype dtype, const Shape& shape, const std::vector<double>& elements) {
  Tensor tensor(dtype, shape);
  for (size_t i = 0; i < elements.size(); ++i)
    set_element_from_double(tensor, static_cast<int64_t>(i), elements[i]);
  return tensor;
}

/// Returns the elements of the op's result on one rank, separated by spaces.
std::string result(const Op& op, const std::vector<Tensor>& operands, size_t rank, Dtype dtype,
                   const Shape& shape) {
  std::vector<const Tensor*> pointers;
  for (const Tensor& operand : operands)
    pointers.push_back(&operand);
  const Definition definition =
      define(op, operands.front().shape(), static_cast<uint32_t>(operands.size()), Rank(rank));
  const Tensor tensor = apply(definition, pointers, dtype, shape);
  std::string text;
  for (int64_t i = 0; i < tensor.elements(); ++i)
    text += (i == 0 ? "" : " ") + element_text(tensor, i);
  return text;
}

/// Returns operands of s32: element i of rank q is 10 q + i.
std::vector<Tensor> ranks(size_t n, const Shape& shape) {
  std::vector<Tensor> operands;
  for (size_t q = 0; q < n; ++q) {
    Tensor& operand = operands.emplace_back(Dtype::S32, shape);
    for (int64_t i = 0; i < operand.elements(); ++i)
      set_element_from_int64(operand, i, static_cast<int64_t>(q) * 10 + i);
  }
  return operands;
}

}  // namespace

TEST_CASE("psum: every element is the sum over the group") {
  // The sums are 0 + 10 + 20 and 1 + 11 + 21.
  CHECK(result(collective(OpKind::Psum), ranks(3, {2}), 1, Dtype::S32, {2}) == "30 33");
}

TEST_CASE("psum of pred: counts in s32") {
  const std::vector<Tensor> operands = {numbers(Dtype::Pred, {2}, {1, 0}),
                                        numbers(Dtype::Pred, {2}, {1, 1}),
                                        numbers(Dtype::Pred, {2}, {1, 0})};
  CHECK(result(collective(OpKind::Psum), operands, 0, Dtype::S32, {2}) == "3 1");
}

TEST_CASE("psum of s8: wraps") {
  const std::vector<Tensor> operands = {numbers(Dtype::S8, {1}, {100}),
                                        numbers(Dtype::S8, {1}, {100})};
  CHECK(result(collective(OpKind::Psum), operands, 0, Dtype::S8, {1}) == "-56");  // 200 - 256
}

TEST_CASE("psum of f32: folds from the left in rank order, and rounds each addition") {
  // 2^24 + 1 rounds to 2^24 (even), so (2^24 + 1) - 2^24 is 0, and (2^24 - 2^24) + 1 is 1.
  const Tensor big = numbers(Dtype::F32, {1}, {0x1p24});
  const Tensor minus = numbers(Dtype::F32, {1}, {-0x1p24});
  const Tensor one = numbers(Dtype::F32, {1}, {1});
  CHECK(result(collective(OpKind::Psum), {big, one, minus}, 0, Dtype::F32, {1}) == "0");
  CHECK(result(collective(OpKind::Psum), {big, minus, one}, 0, Dtype::F32, {1}) == "1");
}

TEST_CASE("pmean: the sum divided by the size of the group") {
  const Op op = collective(OpKind::Pmean);
  // The means are (0 + 10 + 20) / 3 and (1 + 11 + 21) / 3.
  CHECK(result(op, ranks(3, {2}), 1, Dtype::F32, {2}) == "10 11");
  const std::vector<Tensor> preds = {numbers(Dtype::Pred, {2}, {1, 0}),
                                     numbers(Dtype::Pred, {2}, {1, 1})};
  CHECK(result(op, preds, 0, Dtype::F32, {2}) == "1 0.5");
  // The sum wraps as psum's does: 200 - 256 = -56.
  const std::vector<Tensor> narrow = {numbers(Dtype::S8, {1}, {100}),
                                      numbers(Dtype::S8, {1}, {100})};
  CHECK(result(op, narrow, 0, Dtype::F32, {1}) == "-28");
  const std::vector<Tensor> halves = {numbers(Dtype::F16, {1}, {1}), numbers(Dtype::F16, {1}, {2})};
  CHECK(result(op, halves, 0, Dtype::F16, {1}) == "1.5");
}

TEST_CASE("pmean over no axes: the operand as a float") {
  Op op = collective(OpKind::Pmean);
  op.attributes.set("axis_name", std::vector<std::string>{});
  CHECK(result(op, ranks(1, {2}), 0, Dtype::F32, {2}) == "0 1");
}

TEST_CASE("pargmax, pargmin: the lowest rank that has the extremum") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  // The columns have one largest element, a tie, zeros of both signs, and a NaN.
  const std::vector<Tensor> operands = {numbers(Dtype::F32, {4}, {1, 5, 0.0, 1}),
                                        numbers(Dtype::F32, {4}, {3, 2, -0.0, nan}),
                                        numbers(Dtype::F32, {4}, {2, 5, -0.0, 2})};
  CHECK(result(collective(OpKind::Pargmax), operands, 0, Dtype::S32, {4}) == "1 0 0 2147483647");
  CHECK(result(collective(OpKind::Pargmin), operands, 2, Dtype::S32, {4}) == "0 1 0 2147483647");
  CHECK(result(collective(OpKind::Pargmax), ranks(3, {2}), 0, Dtype::S32, {2}) == "2 2");
  CHECK(result(collective(OpKind::Pargmin), ranks(3, {2}), 0, Dtype::S32, {2}) == "0 0");
}

TEST_CASE("pmax: the largest of each element, or for pred") {
  CHECK(result(collective(OpKind::Pmax), ranks(3, {2}), 0, Dtype::S32, {2}) == "20 21");
  const std::vector<Tensor> operands = {numbers(Dtype::Pred, {2}, {0, 0}),
                                        numbers(Dtype::Pred, {2}, {0, 1})};
  CHECK(result(collective(OpKind::Pmax), operands, 0, Dtype::Pred, {2}) == "false true");
}

TEST_CASE("pmin: the smallest of each element, and for pred") {
  CHECK(result(collective(OpKind::Pmin), ranks(3, {2}), 2, Dtype::S32, {2}) == "0 1");
  const std::vector<Tensor> operands = {numbers(Dtype::Pred, {2}, {1, 1}),
                                        numbers(Dtype::Pred, {2}, {0, 1})};
  CHECK(result(collective(OpKind::Pmin), operands, 0, Dtype::Pred, {2}) == "false true");
}

TEST_CASE("all_gather: tiled concatenates in rank order, untiled stacks") {
  const auto gather = [](int64_t axis, bool tiled) {
    return collective(OpKind::AllGather, {{"axis", axis}, {"tiled", tiled}});
  };
  CHECK(result(gather(0, true), ranks(3, {2}), 1, Dtype::S32, {6}) == "0 1 10 11 20 21");
  CHECK(result(gather(0, false), ranks(3, {2}), 1, Dtype::S32, {3, 2}) == "0 1 10 11 20 21");
  // The new dimension is behind the operand's: row i has element i of every rank.
  CHECK(result(gather(1, false), ranks(3, {2}), 1, Dtype::S32, {2, 3}) == "0 10 20 1 11 21");
  CHECK(result(gather(-1, false), ranks(3, {2}), 1, Dtype::S32, {2, 3}) == "0 10 20 1 11 21");
  CHECK(result(gather(1, true), ranks(2, {2, 1}), 0, Dtype::S32, {2, 2}) == "0 10 1 11");
  CHECK(result(gather(-2, true), ranks(2, {2, 1}), 0, Dtype::S32, {4, 1}) == "0 1 10 11");
}

TEST_CASE("psum_scatter: rank p has chunk p of the sum") {
  const auto scatter = [](int64_t dimension, bool tiled) {
    return collective(OpKind::PsumScatter, {{"scatter_dimension", dimension}, {"tiled", tiled}});
  };
  // The sum of two ranks is 10 12 14 16.
  CHECK(result(scatter(0, true), ranks(2, {4}), 0, Dtype::S32, {2}) == "10 12");
  CHECK(result(scatter(0, true), ranks(2, {4}), 1, Dtype::S32, {2}) == "14 16");
  CHECK(result(scatter(0, false), ranks(2, {2, 2}), 1, Dtype::S32, {2}) == "14 16");
  // As [[10, 12], [14, 16]], this is column 1.
  CHECK(result(scatter(1, false), ranks(2, {2, 2}), 1, Dtype::S32, {2}) == "12 16");
  CHECK(result(scatter(1, true), ranks(2, {2, 2}), 1, Dtype::S32, {2, 1}) == "12 16");
}

TEST_CASE("all_to_all, tiled: concatenates chunk p of every rank") {
  const auto exchange = [](int64_t split, int64_t concat) {
    return collective(OpKind::AllToAll,
                      {{"split_axis", split}, {"concat_axis", concat}, {"tiled", true}});
  };
  CHECK(result(exchange(0, 0), ranks(2, {4}), 0, Dtype::S32, {4}) == "0 1 10 11");
  CHECK(result(exchange(0, 0), ranks(2, {4}), 1, Dtype::S32, {4}) == "2 3 12 13");
  // The operands are [[0, 1], [2, 3]] and [[10, 11], [12, 13]]. Rank 1 takes row 1 of each, side by
  // side.
  CHECK(result(exchange(0, 1), ranks(2, {2, 2}), 1, Dtype::S32, {1, 4}) == "2 3 12 13");
  // Rank 1 takes column 1 of each, one above the other.
  CHECK(result(exchange(1, 0), ranks(2, {2, 2}), 1, Dtype::S32, {4, 1}) == "1 3 11 13");
}

TEST_CASE("all_to_all, untiled: stacks entry p of every rank") {
  const auto exchange = [](int64_t split, int64_t concat) {
    return collective(OpKind::AllToAll,
                      {{"split_axis", split}, {"concat_axis", concat}, {"tiled", false}});
  };
  CHECK(result(exchange(0, 0), ranks(2, {2, 3}), 1, Dtype::S32, {2, 3}) == "3 4 5 13 14 15");
  // The result has row 1 of each operand, as columns.
  CHECK(result(exchange(0, 1), ranks(2, {2, 3}), 1, Dtype::S32, {3, 2}) == "3 13 4 14 5 15");
  // The result has column 0 of [[0, 1], [2, 3], [4, 5]] and of the same plus 10, as rows.
  CHECK(result(exchange(1, 0), ranks(2, {3, 2}), 0, Dtype::S32, {2, 3}) == "0 2 4 10 12 14");
}

TEST_CASE("pswapaxes: row p of every rank") {
  const auto swap = [](int64_t axis) { return collective(OpKind::Pswapaxes, {{"axis", axis}}); };
  // The operands are [[0, 1], [2, 3]] and [[10, 11], [12, 13]].
  CHECK(result(swap(0), ranks(2, {2, 2}), 0, Dtype::S32, {2, 2}) == "0 1 10 11");
  CHECK(result(swap(0), ranks(2, {2, 2}), 1, Dtype::S32, {2, 2}) == "2 3 12 13");
  // The result has column 0 of each operand, as columns.
  CHECK(result(swap(1), ranks(2, {2, 2}), 0, Dtype::S32, {2, 2}) == "0 10 2 12");
}

TEST_CASE("ppermute: the source's operand, and zeros where none is named") {
  const Op op = collective(OpKind::Ppermute, {{"perm", IndexGroups{{0, 1}, {1, 2}}}});
  CHECK(result(op, ranks(3, {2}), 0, Dtype::S32, {2}) == "0 0");
  CHECK(result(op, ranks(3, {2}), 1, Dtype::S32, {2}) == "0 1");
  CHECK(result(op, ranks(3, {2}), 2, Dtype::S32, {2}) == "10 11");
}

TEST_CASE("psend, precv: the first of two sends to the second, and one alone gets zeros") {
  for (const OpKind kind : {OpKind::Psend, OpKind::Precv}) {
    const Op op = collective(kind, {{"perm", IndexGroups{{2, 5}}}});  // ranks of the whole axis
    CHECK(result(op, ranks(2, {2}), 1, Dtype::S32, {2}) == "0 1");
    CHECK(result(op, ranks(2, {2}), 0, Dtype::S32, {2}) == "0 0");
    CHECK(result(op, ranks(1, {2}), 0, Dtype::S32, {2}) == "0 0");
  }
}

TEST_CASE("pshuffle: the operand of rank perm[p]") {
  const Op op = collective(OpKind::Pshuffle, {{"perm", std::vector<int64_t>{2, 0, 1}}});
  CHECK(result(op, ranks(3, {2}), 0, Dtype::S32, {2}) == "20 21");
  CHECK(result(op, ranks(3, {2}), 1, Dtype::S32, {2}) == "0 1");
  CHECK(result(op, ranks(3, {2}), 2, Dtype::S32, {2}) == "10 11");
}

TEST_CASE("pbroadcast: the source's operand everywhere") {
  const Op op = collective(OpKind::Pbroadcast, {{"source", int64_t{1}}});
  CHECK(result(op, ranks(3, {2}), 0, Dtype::S32, {2}) == "10 11");
  CHECK(result(op, ranks(3, {2}), 1, Dtype::S32, {2}) == "10 11");
  CHECK(result(op, ranks(3, {2}), 2, Dtype::S32, {2}) == "10 11");
}

TEST_CASE("over no axes: every collective keeps its operand's elements") {
  Op op = collective(OpKind::PsumScatter, {{"scatter_dimension", int64_t{0}}, {"tiled", false}});
  op.attributes.set("axis_name", std::vector<std::string>{});
  CHECK(result(op, ranks(1, {2}), 0, Dtype::S32, {2}) == "0 1");
}

TEST_CASE("definition: one part for each source rank, however many elements it has") {
  const Op gather = collective(OpKind::AllGather, {{"axis", int64_t{0}}, {"tiled", true}});
  CHECK(define(gather, {2, 3}, 2, Rank(0)).parts ==
        std::vector<Part>{{0, 0, Rank(0), 1, {{6, 1, 1}}}, {6, 0, Rank(1), 1, {{6, 1, 1}}}});
  CHECK(define(collective(OpKind::Psum), {2, 3}, 4, Rank(2)).parts ==
        std::vector<Part>{{0, 0, Rank(0), 4, {{6, 1, 1}}}});
  const auto exchange = [](int64_t split, int64_t concat) {
    return collective(OpKind::AllToAll,
                      {{"split_axis", split}, {"concat_axis", concat}, {"tiled", true}});
  };
  // Splitting and concatenating the only dimension of a group of one moves nothing.
  CHECK(define(exchange(0, 0), {5}, 1, Rank(0)).parts ==
        std::vector<Part>{{0, 0, Rank(0), 1, {{5, 1, 1}}}});
  // Columns 3 to 5 of rows of 6 are side by side in rows of 6: each stretch is a row on both sides.
  CHECK(define(exchange(1, 1), {100, 6}, 2, Rank(1)).parts ==
        std::vector<Part>{{0, 3, Rank(0), 1, {{100, 6, 6}, {3, 1, 1}}},
                          {3, 3, Rank(1), 1, {{100, 6, 6}, {3, 1, 1}}}});
}

TEST_CASE("definition: equal to the definition element by element, with each element in one part") {
  test::holds_for_all("parts are the elements", [] {
    const auto n = test::in_range<int64_t>(1, 6);
    const auto rank = test::in_range<size_t>(1, 5);
    std::vector<int64_t> dims;
    for (size_t d = 0; d < rank; ++d)
      dims.push_back(test::in_range<int64_t>(0, 5));
    const auto a = test::in_range<size_t>(0, rank);
    const auto b = test::in_range<size_t>(0, rank);
    const bool tiled = test::any_bool();
    const auto kind = test::one_of(OpKind::Psum, OpKind::AllGather, OpKind::PsumScatter,
                                   OpKind::AllToAll, OpKind::Pswapaxes, OpKind::Ppermute);
    if (kind == OpKind::PsumScatter || kind == OpKind::AllToAll)
      dims[a] = tiled ? dims[a] * n : n;
    if (kind == OpKind::Pswapaxes)
      dims[a] = n;
    const auto first = static_cast<int64_t>(a);
    const Op op = collective(kind, {{"tiled", tiled},
                                    {"axis", first},
                                    {"scatter_dimension", first},
                                    {"split_axis", first},
                                    {"concat_axis", static_cast<int64_t>(b)},
                                    {"perm", IndexGroups{{0, n - 1}}}});
    const Shape operand(dims);
    const auto size = static_cast<uint32_t>(n);
    for (uint32_t p = 0; p < size; ++p) {
      const std::vector<test::DefinedElement> expected =
          test::define_by_element(op, operand, size, Rank(p));
      std::vector<test::DefinedElement> got(expected.size());
      std::vector<int> parts(expected.size(), 0);
      for (const Part& part : define(op, operand, size, Rank(p)).parts) {
        part.for_each_run([&](int64_t to, int64_t from, int64_t count) {
          for (int64_t i = 0; i < count; ++i) {
            const auto at = static_cast<size_t>(to + i);
            RC_ASSERT(at < got.size());
            got[at] = {part.rank, part.ranks, part.ranks == 0 ? 0 : from + i};
            ++parts[at];
          }
        });
      }
      RC_ASSERT(parts == std::vector<int>(expected.size(), 1));
      RC_ASSERT(got == expected);
    }
  });
}

TEST_CASE("definition: without elements there are no parts") {
  CHECK(define(collective(OpKind::Psum), {0, 3}, 4, Rank(2)).parts.empty());
}

// Upstream lowers all_to_all to local ops, which state its meaning a second time. They split the
// operands along one dimension with slice, and join the parts for this rank with concatenate.
TEST_CASE("all_to_all: equals slice and concatenate of the operands") {
  test::holds_for_all("all_to_all is slice and concatenate", [] {
    const int64_t n = test::in_range<int64_t>(1, 5);
    const auto rank = test::in_range<size_t>(1, 4);
    std::vector<int64_t> dims;
    for (size_t d = 0; d < rank; ++d)
      dims.push_back(test::in_range<int64_t>(1, 4));
    const auto split = test::in_range<size_t>(0, rank);
    const auto concat = test::in_range<size_t>(0, rank);
    dims[split] *= n;
    const Shape shape(dims);
    const auto p = test::in_range<int64_t>(0, n);

    std::vector<Tensor> operands;
    std::vector<Tensor> chunks;
    Random random(1);
    for (int64_t q = 0; q < n; ++q) {
      operands.push_back(random_normalish(Dtype::S32, shape, random));
      SliceBounds bounds{std::vector<int64_t>(rank, 0), dims, {}};
      bounds.start[split] = p * (dims[split] / n);
      bounds.limit[split] = (p + 1) * (dims[split] / n);
      chunks.push_back(slice(operands.back(), bounds));
    }
    const Tensor expected = concatenate({chunks.begin(), chunks.end()}, concat);

    const Op op = collective(OpKind::AllToAll, {{"split_axis", static_cast<int64_t>(split)},
                                                {"concat_axis", static_cast<int64_t>(concat)},
                                                {"tiled", true}});
    std::vector<const Tensor*> pointers;
    for (const Tensor& operand : operands)
      pointers.push_back(&operand);
    const Definition definition =
        define(op, shape, static_cast<uint32_t>(n), Rank(static_cast<size_t>(p)));
    RC_ASSERT(apply(definition, pointers, Dtype::S32, expected.shape()) == expected);
  });
}
