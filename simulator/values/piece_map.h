#pragma once

// An area of memory as pieces that are made alike: an interval map. Reading a slice costs the
// logarithm of the number of pieces, plus the pieces that it meets; writing one a little more.

#include <cstddef>
#include <cstdint>
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
  /// A piece; it reaches to the next one, the last one to size_.
  struct Entry {
    int64_t first;
    FoldAt made;
  };
  /// Entries in ascending order, in blocks so that cutting one moves few others. No block is empty
  /// but that of an area without elements.
  struct Block {
    int64_t first;
    std::vector<Entry> entries;
  };
  static constexpr size_t kMostInBlock = 64;
  struct Position {
    size_t block;
    size_t entry;
  };

  Position find(int64_t element) const;
  /// Of an area with elements: the piece before or after, if there is one.
  const Entry* before(Position position) const;
  const Entry* at(Position position) const;
  Position next(Position position) const;
  /// Puts `fresh` in the place of the entries in [from, to).
  void replace(Position from, Position to, const std::vector<Entry>& fresh);
  void split(size_t block);

  int64_t size_;
  std::vector<Block> blocks_;
};

}  // namespace orrery
