#pragma once

// An area of memory as pieces that are made alike: an interval map. Reading and writing a slice
// costs the logarithm of the number of pieces, plus the pieces that it meets.

#include <cstdint>
#include <map>
#include <vector>

#include "simulator/values/fold_table.h"

namespace orrery {

/// Elements [first, first + count) of an area, all made alike: element first + j is the fold with
/// its inputs j elements further on.
struct Piece {
  int64_t first = 0;
  int64_t count = 0;
  FoldAt made;
  friend bool operator==(const Piece&, const Piece&) = default;

  bool undefined() const { return made == FoldTable::undefined(); }
};

/// Pieces that follow on each other from 0, ascending.
using Pieces = std::vector<Piece>;

/// Elements in all pieces.
int64_t length(const Pieces& pieces);

/// Element by element, `left` (op) `right`. Both have the same number of elements.
Pieces combined(FoldTable& folds, Combine op, const Pieces& left, const Pieces& right);

class PieceMap {
 public:
  /// `size` elements, made as `made` and what follows on it.
  PieceMap(int64_t size, FoldAt made);

  int64_t size() const { return size_; }

  /// What [first, first + count) is made of, counted from `first`. Requires a slice of the area.
  Pieces read(int64_t first, int64_t count) const;

  /// Makes [first, ...) of `pieces`. Requires that they end within the area.
  void write(int64_t first, const Pieces& pieces);

  /// The whole area; neighbours that are made alike are one piece.
  Pieces pieces() const { return read(0, size_); }

 private:
  /// By first element; each reaches to the next, the last one to size_.
  using Map = std::map<int64_t, FoldAt>;

  /// The piece that begins at `first`, made by cutting one in two where need be; end() for size_.
  Map::iterator cut(int64_t first);
  /// Joins the piece that begins at `at` to the one before it, where they are made alike.
  void join(Map::iterator at);

  int64_t size_;
  Map map_;
};

}  // namespace orrery
