// Tests best fit, by hand and against a model that tracks every byte.

#include "simulator/memory/placement.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "tests/support/property.h"

namespace orrery::test {

namespace {

int64_t allocate(Placement& placement, int64_t size) {
  return placement.allocate(Bytes(size)).count();
}
void release(Placement& placement, int64_t begin, int64_t size) {
  placement.release(Bytes(begin), Bytes(size));
}

TEST_CASE("placement: the first allocations follow on each other") {
  Placement placement;
  CHECK(allocate(placement, 10) == 0);
  CHECK(allocate(placement, 20) == 10);
  CHECK(placement.high_water() == Bytes(30));
}

TEST_CASE("placement: the smallest gap that fits is taken, not the first") {
  Placement placement;
  for (const int64_t size : {30, 1, 20, 1, 10, 1})
    allocate(placement, size);
  release(placement, 0, 30);
  release(placement, 31, 20);
  release(placement, 52, 10);
  // The gaps are 30 at 0, 20 at 31, and 10 at 52.
  CHECK(allocate(placement, 15) == 31);
  CHECK(allocate(placement, 5) == 46);  // the rest of the gap is 5
}

TEST_CASE("placement: of equal gaps the lowest is taken") {
  Placement placement;
  for (int i = 0; i < 6; ++i)
    allocate(placement, 10);
  release(placement, 40, 10);
  release(placement, 20, 10);
  CHECK(allocate(placement, 10) == 20);
}

TEST_CASE("placement: a gap that touches another is one with it") {
  Placement placement;
  for (int i = 0; i < 4; ++i)
    allocate(placement, 10);
  release(placement, 0, 10);
  release(placement, 20, 10);
  release(placement, 10, 10);
  CHECK(allocate(placement, 30) == 0);
}

TEST_CASE("placement: memory beyond the last allocation is used only if no gap fits") {
  Placement placement;
  for (const int64_t size : {10, 1, 10})
    allocate(placement, size);
  release(placement, 0, 10);
  release(placement, 11, 10);
  // The gaps are 10 at 0, and one without end at 11.
  CHECK(allocate(placement, 10) == 0);
  CHECK(allocate(placement, 12) == 11);
  CHECK(placement.high_water() == Bytes(23));
}

TEST_CASE("placement: an empty allocation takes no space") {
  Placement placement;
  CHECK(allocate(placement, 0) == 0);
  release(placement, 0, 0);
  CHECK(allocate(placement, 5) == 0);
}

/// This model does best fit byte by byte.
class Model {
 public:
  int64_t allocate(int64_t size) {
    std::optional<std::pair<int64_t, int64_t>> best;  // (gap size, begin)
    int64_t begin = 0;
    for (size_t i = 0; i <= used_.size(); ++i) {
      if (i < used_.size() && !used_[i])
        continue;
      const std::pair<int64_t, int64_t> gap{static_cast<int64_t>(i) - begin, begin};
      if (i < used_.size() && gap.first >= size && (!best || gap < *best))
        best = gap;
      if (i < used_.size())
        begin = static_cast<int64_t>(i) + 1;
    }
    const int64_t at = best ? best->second : begin;
    set(at, size, true);
    return at;
  }
  void release(int64_t begin, int64_t size) { set(begin, size, false); }

 private:
  void set(int64_t begin, int64_t size, bool value) {
    if (used_.size() < static_cast<size_t>(begin + size))
      used_.resize(static_cast<size_t>(begin + size), false);
    for (int64_t i = begin; i < begin + size; ++i)
      used_[static_cast<size_t>(i)] = value;
  }
  std::vector<bool> used_;
};

TEST_CASE("placement: agrees with a model that looks at every byte") {
  holds_for_all("best fit", [](uint64_t seed) {
    Random random(seed);
    Placement placement;
    Model model;
    struct Block {
      int64_t begin, size;
    };
    std::vector<Block> blocks;
    int64_t live = 0;
    for (int i = 0; i < 200; ++i) {
      if (blocks.empty() || random.below(100) < 55) {
        const int64_t size = random.between(1, 20);
        const int64_t begin = allocate(placement, size);
        RC_ASSERT(begin == model.allocate(size));
        for (const Block& other : blocks)
          RC_ASSERT(begin + size <= other.begin || other.begin + other.size <= begin);
        blocks.push_back({begin, size});
        live += size;
        RC_ASSERT(placement.high_water() >= Bytes(live));
      } else {
        const auto at = blocks.begin() + random.between(0, static_cast<int64_t>(blocks.size()) - 1);
        release(placement, at->begin, at->size);
        model.release(at->begin, at->size);
        live -= at->size;
        blocks.erase(at);
      }
    }
  });
}

}  // namespace

}  // namespace orrery::test
