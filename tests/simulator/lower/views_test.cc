// Compares the views of collectives with definitions written out index by index.

#include <vector>

#include <doctest/doctest.h>

#include "simulator/schedule/view.h"
#include "tests/support/property.h"

namespace orrery {
namespace {

using Index = std::vector<int64_t>;

Index unravel(int64_t flat, const Shape& shape) {
  Index index(shape.rank());
  for (size_t d = shape.rank(); d-- > 0;) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return index;
}

int64_t ravel(const Index& index, const Shape& shape) {
  int64_t flat = 0;
  for (size_t d = 0; d < shape.rank(); ++d)
    flat = flat * shape[d] + index[d];
  return flat;
}

/// A `Source` is an element of one rank's operand.
struct Source {
  int64_t rank;
  int64_t element;
  friend bool operator==(const Source&, const Source&) = default;
};

/// Applies the views. Returns the source of the element at each offset of rank p's result.
/// `from(i)` is the source of p's canonical element i, as the collective moves elements.
template <class From>
std::vector<Source> through(const CollectiveViews& views, From&& from) {
  std::vector<Source> result(static_cast<size_t>(views.output.elements()));
  for (int64_t i = 0; i < views.output.elements(); ++i) {
    const Source source = from(i);
    result[static_cast<size_t>(views.output.offset(i))] = {source.rank,
                                                           views.input.offset(source.element)};
  }
  return result;
}

/// Applies the definition. `at(index)` is the source of the result element with that index.
template <class At>
std::vector<Source> defined(const Shape& result, At&& at) {
  std::vector<Source> sources;
  for (int64_t f = 0; f < result.elements(); ++f)
    sources.push_back(at(unravel(f, result)));
  return sources;
}

Index removed(Index index, size_t d) {
  index.erase(index.begin() + static_cast<std::ptrdiff_t>(d));
  return index;
}
Index inserted(Index index, size_t d, int64_t value) {
  index.insert(index.begin() + static_cast<std::ptrdiff_t>(d), value);
  return index;
}

Shape any_shape(size_t least_rank) {
  std::vector<int64_t> dims(test::in_range<size_t>(least_rank, 5));
  for (int64_t& dim : dims)
    dim = test::in_range<int64_t>(0, 5);
  return Shape(dims);
}

Op collective(OpKind kind, bool tiled) {
  Op op;
  op.kind = kind;
  op.attributes.set("tiled", tiled);
  return op;
}

TEST_CASE("views of all_gather: stacked or tiled along any axis, from either end") {
  test::holds_for_all("all_gather", [] {
    const bool tiled = test::any_bool();
    const Shape operand = any_shape(tiled ? 1 : 0);
    const auto size = test::in_range<int64_t>(1, 5);
    const size_t result_rank = operand.rank() + (tiled ? 0 : 1);
    const auto axis = test::in_range<size_t>(0, result_rank);
    Op op = collective(OpKind::AllGather, tiled);
    const bool from_end = test::any_bool();
    op.attributes.set(
        "axis", static_cast<int64_t>(axis) - (from_end ? static_cast<int64_t>(result_rank) : 0));

    const Shape result =
        tiled ? operand.with(axis, operand[axis] * size) : operand.inserted(axis, size);
    const int64_t part = operand.elements();
    const auto expected = defined(result, [&](Index index) -> Source {
      if (!tiled)
        return {index[axis], ravel(removed(index, axis), operand)};
      const int64_t rank = index[axis] / operand[axis];
      index[axis] %= operand[axis];
      return {rank, ravel(index, operand)};
    });
    const auto got = through(collective_views(op, operand, result, size), [&](int64_t i) -> Source {
      return {i / part, i % part};
    });
    RC_ASSERT(got == expected);
  });
}

TEST_CASE("views of psum_scatter: rank p keeps the p-th slice along any dimension") {
  test::holds_for_all("psum_scatter", [] {
    const bool tiled = test::any_bool();
    Shape operand = any_shape(1);
    const auto size = test::in_range<int64_t>(1, 5);
    const auto dimension = test::in_range<size_t>(0, operand.rank());
    operand = operand.with(dimension, tiled ? operand[dimension] * size : size);
    Op op = collective(OpKind::PsumScatter, tiled);
    op.attributes.set("scatter_dimension", static_cast<int64_t>(dimension));

    const Shape result =
        tiled ? operand.with(dimension, operand[dimension] / size) : operand.without(dimension);
    for (int64_t p = 0; p < size; ++p) {
      const auto expected = defined(result, [&](Index index) -> Source {
        if (!tiled)
          return {0, ravel(inserted(index, dimension, p), operand)};
        index[dimension] += p * result[dimension];
        return {0, ravel(index, operand)};
      });
      const auto got =
          through(collective_views(op, operand, result, size), [&](int64_t i) -> Source {
            return {0, p * result.elements() + i};
          });
      RC_ASSERT(got == expected);
    }
  });
}

TEST_CASE("views of all_to_all: part p of rank q's operand is part q of rank p's result") {
  test::holds_for_all("all_to_all", [] {
    const bool tiled = test::any_bool();
    Shape operand = any_shape(1);
    const auto size = test::in_range<int64_t>(1, 5);
    const auto split = test::in_range<size_t>(0, operand.rank());
    const auto concat = test::in_range<size_t>(0, operand.rank());
    operand = operand.with(split, tiled ? operand[split] * size : size);
    Op op = collective(OpKind::AllToAll, tiled);
    op.attributes.set("split_axis", static_cast<int64_t>(split));
    op.attributes.set("concat_axis", static_cast<int64_t>(concat));

    const Shape part = tiled ? operand.with(split, operand[split] / size) : operand.without(split);
    const Shape result =
        tiled ? part.with(concat, part[concat] * size) : part.inserted(concat, size);
    for (int64_t p = 0; p < size; ++p) {
      const auto expected = defined(result, [&](Index index) -> Source {
        if (!tiled)
          return {index[concat], ravel(inserted(removed(index, concat), split, p), operand)};
        const int64_t rank = index[concat] / part[concat];
        index[concat] %= part[concat];
        index[split] += p * part[split];
        return {rank, ravel(index, operand)};
      });
      const auto got =
          through(collective_views(op, operand, result, size), [&](int64_t i) -> Source {
            return {i / part.elements(), p * part.elements() + i % part.elements()};
          });
      RC_ASSERT(got == expected);
    }
  });
}

TEST_CASE("views: psum, pmax and ppermute see whole tensors") {
  for (const OpKind kind : {OpKind::Psum, OpKind::Pmax, OpKind::Ppermute}) {
    Op op;
    op.kind = kind;
    const CollectiveViews views = collective_views(op, Shape{2, 3}, Shape{2, 3}, 4);
    CHECK(views.input == View::whole(6));
    CHECK(views.output == View::whole(6));
  }
}

TEST_CASE("views: over no axes a psum_scatter may be of any extent") {
  Op op = collective(OpKind::PsumScatter, false);
  op.attributes.set("scatter_dimension", int64_t{0});
  CHECK(collective_views(op, Shape{5}, Shape{5}, 1).output == View::whole(5));
}

TEST_CASE("views: parts along the first dimension are one run") {
  Op op = collective(OpKind::AllGather, true);
  op.attributes.set("axis", int64_t{0});
  CHECK(collective_views(op, Shape{4, 5}, Shape{12, 5}, 3).output.contiguous());
  op.attributes.set("axis", int64_t{1});
  // Along the second dimension, 5 elements of each rank lie side by side.
  CHECK(collective_views(op, Shape{4, 5}, Shape{4, 15}, 3).output.inner_run() == 5);
}

}  // namespace
}  // namespace orrery
