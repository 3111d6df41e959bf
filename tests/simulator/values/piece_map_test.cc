// Tests pieces by hand, and random copies and sums against a table with one entry per element.

#include "simulator/values/piece_map.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "tests/support/property.h"

namespace orrery::test {

namespace {

/// Returns the table in which the tests fold by hand, with Input(rank, element).
FoldTable& folds() {
  static FoldTable table;
  return table;
}
FoldAt of(size_t rank, int64_t element) {
  return folds().input(Rank(rank), element);
}
FoldAt sum_of(FoldAt left, FoldAt right) {
  return folds().combine(Combine::Add, left, right);
}
const FoldAt kUndefined = FoldTable::undefined();
const FoldAt kZero = FoldTable::zero();

TEST_CASE("pieces: a slice counts from its own first element") {
  const PieceMap map(10, of(3, 0));
  CHECK(map.read(4, 5) == Pieces{{0, 5, of(3, 4)}});
}

TEST_CASE("pieces: writing in the middle leaves both sides unchanged") {
  PieceMap map(10, of(0, 0));
  map.write(4, {{0, 2, of(1, 0)}});
  CHECK(map.pieces() == Pieces{{0, 4, of(0, 0)}, {4, 2, of(1, 0)}, {6, 4, of(0, 6)}});
}

TEST_CASE("pieces: adjacent pieces of the same fold are joined") {
  PieceMap map(6, kUndefined);
  map.write(0, {{0, 2, of(1, 10)}});
  map.write(4, {{0, 2, of(1, 14)}});
  map.write(2, {{0, 2, of(1, 12)}});
  CHECK(map.pieces() == Pieces{{0, 6, of(1, 10)}});
}

TEST_CASE("pieces: sums of the same elements in another order are different folds") {
  PieceMap map(4, sum_of(of(0, 0), of(1, 0)));
  map.write(2, {{0, 2, sum_of(of(1, 2), of(0, 2))}});
  CHECK(map.pieces().size() == 2);
}

TEST_CASE("pieces: a write of the whole area leaves nothing of what was there") {
  PieceMap map(6, kUndefined);
  map.write(0, {{0, 6, of(1, 10)}});
  CHECK(map.pieces() == Pieces{{0, 6, of(1, 10)}});
  map.write(2, {{0, 2, of(0, 0)}});
  CHECK(map.pieces() == Pieces{{0, 2, of(1, 10)}, {2, 2, of(0, 0)}, {4, 2, of(1, 14)}});
  map.write(0, {{0, 6, of(2, 3)}});
  CHECK(map.pieces() == Pieces{{0, 6, of(2, 3)}});
}

TEST_CASE("pieces: zeros and unwritten elements differ") {
  PieceMap map(4, kUndefined);
  map.write(0, {{0, 2, kZero}});
  CHECK(map.pieces() == Pieces{{0, 2, kZero}, {2, 2, kUndefined}});
}

TEST_CASE("pieces: an area without elements has none") {
  PieceMap map(0, kUndefined);
  map.write(0, {});
  CHECK(map.pieces().empty());
}

TEST_CASE("pieces: combining with something undefined is undefined") {
  const Pieces left{{0, 2, of(0, 0)}, {2, 2, kUndefined}};
  const Pieces right{{0, 4, of(1, 8)}};
  CHECK(combined(folds(), Combine::Add, left, right) ==
        Pieces{{0, 2, sum_of(of(0, 0), of(1, 8))}, {2, 2, kUndefined}});
}

/// There is one entry per element.
using Elements = std::vector<FoldAt>;

Elements elements(const Pieces& pieces) {
  Elements result;
  for (const Piece& piece : pieces)
    for (int64_t j = 0; j < piece.count; ++j)
      result.push_back(piece.made.moved(j));
  return result;
}

TEST_CASE("pieces: random copies and sums agree with a table of elements") {
  holds_for_all("piece map", [](uint64_t seed) {
    constexpr int64_t kSize = 24;
    Random random(seed);
    PieceMap map(kSize, random.below(2) == 0 ? kUndefined : kZero);
    Elements model = elements(map.pieces());
    for (int i = 0; i < 60; ++i) {
      const int64_t count = random.between(1, 8);
      const int64_t from = random.between(0, kSize - count);
      const int64_t to = random.between(0, kSize - count);
      Pieces payload = map.read(from, count);
      Elements moved(model.begin() + from, model.begin() + from + count);
      const uint64_t what = random.below(3);
      if (what == 0) {
        payload = {{0, count, of(random.below(3), from)}};
        moved = elements(payload);
      } else if (what == 1 && folds().size() < 100'000) {
        payload = combined(folds(), Combine::Add, payload, map.read(to, count));
        for (int64_t j = 0; j < count; ++j)
          moved[static_cast<size_t>(j)] =
              sum_of(moved[static_cast<size_t>(j)], model[static_cast<size_t>(to + j)]);
      }
      map.write(to, payload);
      std::copy(moved.begin(), moved.end(), model.begin() + to);
      RC_ASSERT(elements(map.pieces()) == model);
    }
    // There are as few pieces as possible: no two adjacent pieces could be joined.
    const Pieces pieces = map.pieces();
    for (size_t i = 0; i + 1 < pieces.size(); ++i)
      RC_ASSERT(pieces[i].made.moved(pieces[i].count) != pieces[i + 1].made);
  });
}

TEST_CASE("pieces: areas of thousands of pieces agree with a table of elements") {
  holds_for_all("large piece map", [](uint64_t seed) {
    constexpr int64_t kSize = 1500;
    Random random(seed);
    PieceMap map(kSize, kUndefined);
    Elements model = elements(map.pieces());
    for (int i = 0; i < 1200; ++i) {
      // Most writes are of single elements that continue no neighbour, and some are of a long
      // stretch.
      const int64_t count = random.below(40) == 0 ? random.between(1, 400) : 1;
      const int64_t to = random.between(0, kSize - count);
      const Pieces payload = random.below(4) == 0
                                 ? map.read(random.between(0, kSize - count), count)
                                 : Pieces{{0, count, of(random.below(3), 7 * i)}};
      const Elements moved = elements(payload);
      map.write(to, payload);
      std::copy(moved.begin(), moved.end(), model.begin() + to);
    }
    RC_ASSERT(elements(map.pieces()) == model);
    for (int i = 0; i < 50; ++i) {
      const int64_t first = random.between(0, kSize);
      const int64_t count = random.between(0, kSize - first);
      RC_ASSERT(elements(map.read(first, count)) ==
                Elements(model.begin() + first, model.begin() + first + count));
    }
  });
}

}  // namespace

}  // namespace orrery::test
