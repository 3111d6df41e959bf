#include <algorithm>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "tests/support/property.h"
#include "verifier/prove/prove.h"

namespace orrery::test {

namespace {

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

/// Returns every (result, operand) pair of the parts, sorted.
Pairs pairs(const std::vector<Part>& parts) {
  Pairs pairs;
  for (const Part& part : parts)
    part.for_each_run([&](int64_t first, int64_t source, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        pairs.emplace_back(first + i, source + i);
    });
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

std::vector<Part> moved(const Part& part, const View& result, const View& operand) {
  std::vector<Part> parts;
  for_each_moved(part, result, operand, [&](const Part& each) {
    parts.push_back(each);
    return true;
  });
  return parts;
}

/// Returns a one-to-one view: dimensions of random extents in random order in the tensor.
View random_view(Random& random, const std::vector<int64_t>& factors) {
  std::vector<int64_t> dims = factors;
  std::vector<int64_t> strides(factors.size(), 1);
  std::vector<size_t> order;
  for (size_t d = 0; d < factors.size(); ++d)
    order.insert(order.begin() + static_cast<ptrdiff_t>(random.below(d + 1)), d);
  for (size_t i = factors.size(); i > 1; --i)
    std::swap(dims[i - 1], dims[random.below(i)]);
  int64_t stride = 1;
  for (const size_t d : order) {
    strides[d] = stride;
    stride *= dims[d];
  }
  return {dims, strides};
}

/// Returns a part of random ascending, distinct numbers in [0, size).
Part random_part(Random& random, int64_t size) {
  Part part{0, 0, Rank(0), 1, {}};
  int64_t last = 0;  // on either side
  for (int64_t stride = random.between(1, 3); stride < size && part.dims.size() < 3;) {
    const int64_t count = random.between(1, std::max<int64_t>(1, (size - 1 - last) / stride));
    if (last + (count - 1) * stride >= size)
      break;
    part.dims.insert(part.dims.begin(), {count, stride, stride});
    last += (count - 1) * stride;
    stride = stride * count * random.between(1, 2);
  }
  part.first = random.between(0, size - 1 - last);
  part.source = random.between(0, size - 1 - last);
  return part;
}

TEST_CASE("inverse of a view: the canonical element at each offset") {
  holds_for_all("inverse", [](uint64_t seed) {
    Random random(seed);
    const View view = random_view(random, {random.between(1, 4), random.between(1, 4), 3});
    const std::optional<View> inverted = inverse(view);
    RC_ASSERT(inverted.has_value());
    for (int64_t e = 0; e < view.elements(); ++e)
      RC_ASSERT(inverted->offset(view.offset(e)) == e);
  });
}

TEST_CASE("inverse of a view: none where an offset has two elements, or none") {
  CHECK_FALSE(inverse({{2, 3}, {1, 1}}));  // offset 1 twice
  CHECK_FALSE(inverse({{2, 3}, {4, 1}}));  // offset 3 never
  CHECK_FALSE(inverse({{2}, {0}}));
}

TEST_CASE("moved parts: the part's pairs, each side through its view") {
  holds_for_all("moved", [](uint64_t seed) {
    Random random(seed);
    const std::vector<int64_t> factors = {2, random.between(1, 5), 3, random.between(1, 4)};
    const View result = random_view(random, factors);
    const View operand = random_view(random, factors);
    const Part part = random_part(random, result.elements());
    Pairs expected = pairs({part});
    for (auto& [to, from] : expected) {
      to = result.offset(to);
      from = operand.offset(from);
    }
    std::sort(expected.begin(), expected.end());
    RC_ASSERT(pairs(moved(part, result, operand)) == expected);
  });
}

TEST_CASE("moved parts: a rank's part that is scattered in the tensor becomes one stretch again") {
  // These are columns 64 to 127 of a million rows of 256, in the view that has them as its second
  // part.
  const int64_t rows = 1'000'000;
  const View columns{{4, rows, 64}, {64, 256, 1}};
  const Part part{64, 64, Rank(0), 1, {{rows, 256, 256}, {64, 1, 1}}};
  CHECK(moved(part, *inverse(columns), *inverse(columns)) ==
        std::vector<Part>{{rows * 64, rows * 64, Rank(0), 1, {{rows * 64, 1, 1}}}});
}

TEST_CASE("moved parts: zeros have no source") {
  const View rows{{2, 3}, {1, 2}};
  const Part zeros{0, 0, Rank(0), 0, {{6, 1, 1}}};
  int64_t elements = 0;
  for (const Part& part : moved(zeros, rows, View::whole(0)))
    elements += part.elements();
  CHECK(elements == 6);
}

}  // namespace

}  // namespace orrery::test
