#include "simulator/schedule/view.h"

#include <doctest/doctest.h>

#include "tests/support/property.h"

namespace orrery {
namespace {

/// Returns the offset of each canonical element, counted one by one over the coordinates.
std::vector<int64_t> places(const View& view) {
  std::vector<int64_t> coordinate(view.dims.size(), 0);
  std::vector<int64_t> result;
  for (int64_t i = 0; i < view.elements(); ++i) {
    int64_t place = 0;
    for (size_t d = 0; d < coordinate.size(); ++d)
      place += coordinate[d] * view.strides[d];
    result.push_back(place);
    for (size_t d = coordinate.size(); d-- > 0;) {
      if (++coordinate[d] < view.dims[d])
        break;
      coordinate[d] = 0;
    }
  }
  return result;
}

/// Returns a view of a tensor's dimensions in another order.
View any_view() {
  const auto rank = test::in_range<size_t>(1, 5);
  std::vector<int64_t> dims(rank);
  std::vector<int64_t> strides(rank);
  for (size_t d = 0; d < rank; ++d)
    dims[d] = test::in_range<int64_t>(1, 5);
  int64_t stride = 1;
  for (size_t d = rank; d-- > 0;) {
    strides[d] = stride;
    stride *= dims[d];
  }
  std::vector<size_t> order(rank);
  for (size_t d = 0; d < rank; ++d)
    order[d] = d;
  for (size_t d = rank; d-- > 1;)
    std::swap(order[d], order[test::in_range<size_t>(0, d + 1)]);
  std::vector<int64_t> permuted_dims;
  std::vector<int64_t> permuted_strides;
  for (const size_t d : order) {
    permuted_dims.push_back(dims[d]);
    permuted_strides.push_back(strides[d]);
  }
  return {permuted_dims, permuted_strides};
}

TEST_CASE("view: its runs are its elements, one by one") {
  test::holds_for_all("runs", [] {
    const View view = any_view();
    const std::vector<int64_t> expected = places(view);
    const auto first = test::in_range<int64_t>(0, view.elements() + 1);
    const auto count = test::in_range<int64_t>(0, view.elements() - first + 1);
    int64_t next = first;
    view.for_each_run(first, count, [&](int64_t canonical, int64_t tensor, int64_t length) {
      RC_ASSERT(canonical == next);
      RC_ASSERT(length > 0);
      for (int64_t i = 0; i < length; ++i)
        RC_ASSERT(expected[static_cast<size_t>(canonical + i)] == tensor + i);
      next += length;
    });
    RC_ASSERT(next == first + count);
  });
}

TEST_CASE("view: contiguous exactly where element i lies at offset i") {
  test::holds_for_all("contiguous", [] {
    const View view = any_view();
    const std::vector<int64_t> all = places(view);
    bool in_order = true;
    for (size_t i = 0; i < all.size(); ++i)
      in_order = in_order && all[i] == static_cast<int64_t>(i);
    RC_ASSERT(view.contiguous() == in_order);
  });
}

TEST_CASE("view: whole tensors are one run, empty ones none") {
  CHECK(View::whole(7).contiguous());
  CHECK(View::whole(0).contiguous());
  CHECK(View::whole(0).elements() == 0);
  int runs = 0;
  View::whole(7).for_each_run(2, 5, [&](int64_t canonical, int64_t tensor, int64_t count) {
    ++runs;
    CHECK(canonical == 2);
    CHECK(tensor == 2);
    CHECK(count == 5);
  });
  View::whole(0).for_each_run(0, 0, [&](int64_t, int64_t, int64_t) { ++runs; });
  CHECK(runs == 1);
}

}  // namespace
}  // namespace orrery
