#pragma once

// An area of memory as pieces that are made alike: an interval map. Reading and writing a slice
// costs the logarithm of the number of pieces, plus the pieces that it meets.

#include <cstdint>
#include <map>
#include <vector>

#include "simulator/values/contributions.h"

namespace orrery {

/// Elements [first, first + count) of an area, all made alike. Empty `made_of`: zeros, or for
/// `undefined` pieces never written.
struct Piece {
  int64_t first = 0;
  int64_t count = 0;
  bool undefined = false;
  Contributions made_of;
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// Pieces that follow on each other from 0, ascending.
using Pieces = std::vector<Piece>;

/// Element by element, what `left` combined with `right` is made of; undefined where either is.
/// Both have the same number of elements.
Pieces combined(const Pieces& left, const Pieces& right);

class PieceMap {
 public:
  /// `size` elements, all of one make.
  PieceMap(int64_t size, bool undefined, Contributions made_of);

  int64_t size() const { return size_; }

  /// What [first, first + count) is made of, counted from `first`. Requires a slice of the area.
  Pieces read(int64_t first, int64_t count) const;

  /// Makes [first, ...) of `pieces`. Requires that they end within the area.
  void write(int64_t first, const Pieces& pieces);

  /// The whole area; neighbours that are made alike are one piece.
  Pieces pieces() const { return read(0, size_); }

 private:
  struct Make {
    bool undefined = false;
    Contributions made_of;
  };
  /// By first element; each reaches to the next, the last one to size_.
  using Map = std::map<int64_t, Make>;

  /// The piece that begins at `first`, made by cutting one in two where need be; end() for size_.
  Map::iterator cut(int64_t first);
  /// Joins the piece that begins at `at` to the one before it, where they are made alike.
  void join(Map::iterator at);

  int64_t size_;
  Map map_;
};

}  // namespace orrery
