#include "simulator/values/piece_map.h"

#include <optional>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "tests/support/property.h"

namespace orrery::test {

namespace {

Contributions of(size_t rank, int64_t source) {
  return {{Rank(rank), 1, source, 1}};
}

TEST_CASE("pieces: a slice counts from its own first element") {
  const PieceMap map(10, false, of(3, 0));
  CHECK(map.read(4, 5) == Pieces{{0, 5, false, of(3, 4)}});
}

TEST_CASE("pieces: writing in the middle leaves both sides as they were") {
  PieceMap map(10, false, of(0, 0));
  map.write(4, {{0, 2, false, of(1, 0)}});
  CHECK(map.pieces() ==
        Pieces{{0, 4, false, of(0, 0)}, {4, 2, false, of(1, 0)}, {6, 4, false, of(0, 6)}});
}

TEST_CASE("pieces: neighbours that are made alike become one") {
  PieceMap map(6, true, {});
  map.write(0, {{0, 2, false, of(1, 10)}});
  map.write(4, {{0, 2, false, of(1, 14)}});
  map.write(2, {{0, 2, false, of(1, 12)}});
  CHECK(map.pieces() == Pieces{{0, 6, false, of(1, 10)}});
}

TEST_CASE("pieces: zeros and what was never written are not alike") {
  PieceMap map(4, true, {});
  map.write(0, {{0, 2, false, {}}});
  CHECK(map.pieces() == Pieces{{0, 2, false, {}}, {2, 2, true, {}}});
}

TEST_CASE("pieces: an area without elements has none") {
  PieceMap map(0, true, {});
  map.write(0, {});
  CHECK(map.pieces().empty());
}

TEST_CASE("pieces: what combines with something undefined is undefined") {
  const Pieces left{{0, 2, false, of(0, 0)}, {2, 2, true, {}}};
  const Pieces right{{0, 4, false, of(1, 8)}};
  CHECK(combined(left, right) ==
        Pieces{{0, 2, false, {{Rank(0), 1, 0, 1}, {Rank(1), 1, 8, 1}}}, {2, 2, true, {}}});
}

/// One entry per element: empty where nothing was written.
using Elements = std::vector<std::optional<Contributions>>;

Elements elements(const Pieces& pieces) {
  Elements result;
  for (const Piece& piece : pieces) {
    for (int64_t j = 0; j < piece.count; ++j) {
      Contributions made_of = piece.made_of;
      for (Contribution& c : made_of)
        c.source += j;
      result.push_back(piece.undefined ? std::nullopt : std::optional(made_of));
    }
  }
  return result;
}

TEST_CASE("pieces: random copies and sums agree with a table of elements") {
  holds_for_all("piece map", [](uint64_t seed) {
    constexpr int64_t kSize = 24;
    Random random(seed);
    PieceMap map(kSize, random.below(2) == 0, {});
    Elements model = elements(map.pieces());
    for (int i = 0; i < 60; ++i) {
      const int64_t count = random.between(1, 8);
      const int64_t from = random.between(0, kSize - count);
      const int64_t to = random.between(0, kSize - count);
      Pieces payload = map.read(from, count);
      Elements moved(model.begin() + from, model.begin() + from + count);
      const uint64_t what = random.below(3);
      if (what == 0) {
        payload = {{0, count, false, of(random.below(3), from)}};
        moved = elements(payload);
      } else if (what == 1) {
        payload = combined(payload, map.read(to, count));
        for (int64_t j = 0; j < count; ++j) {
          std::optional<Contributions>& left = moved[static_cast<size_t>(j)];
          const std::optional<Contributions>& right = model[static_cast<size_t>(to + j)];
          left = left && right ? std::optional(sum(*left, *right)) : std::nullopt;
        }
      }
      map.write(to, payload);
      std::copy(moved.begin(), moved.end(), model.begin() + to);
      RC_ASSERT(elements(map.pieces()) == model);
    }
    // Pieces are as few as can be: no two neighbours are made alike.
    const Pieces pieces = map.pieces();
    for (size_t i = 0; i + 1 < pieces.size(); ++i) {
      Piece joined = pieces[i];
      joined.count += pieces[i + 1].count;
      RC_ASSERT(elements({joined}) != elements({pieces[i], pieces[i + 1]}));
    }
  });
}

}  // namespace

}  // namespace orrery::test
