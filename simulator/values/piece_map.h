#pragma once

// A PieceMap is an area of memory as pieces of one fold each: an interval map. Reading a slice
// costs the logarithm of the number of pieces, plus the pieces read. Writing costs a little more.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "simulator/values/fold_table.h"

namespace orrery {

/// A Piece is elements [first, first + count) of an area, all of the same fold: element first + j
/// is the fold with its inputs j elements further on.
struct Piece {
  int64_t first = 0;
  int64_t count = 0;
  FoldAt made;
  friend bool operator==(const Piece&, const Piece&) = default;

  bool undefined() const { return made == FoldTable::undefined(); }
};

/// Pieces are contiguous and ascending, from 0 on.
using Pieces = std::vector<Piece>;

/// Returns the number of elements in all pieces.
int64_t length(const Pieces& pieces);

/// Returns `left` (op) `right`, element by element. Requires equally many elements in both.
Pieces combined(FoldTable& folds, Combine op, const Pieces& left, const Pieces& right);

class PieceMap {
 public:
  /// Makes an area of `size` elements: the first is `made`, and the others continue it.
  PieceMap(int64_t size, FoldAt made);

  int64_t size() const { return size_; }

  /// Returns the pieces of [first, first + count), counted from `first`. They must be in the area.
  Pieces read(int64_t first, int64_t count) const;

  /// Writes `pieces` from `first` on. Requires that they end within the area.
  void write(int64_t first, const Pieces& pieces);

  /// Returns the whole area, with neighbours of the same fold joined.
  Pieces pieces() const { return read(0, size_); }

 private:
  /// A Start begins a piece, which ends where the next one begins; the last piece ends at size_.
  struct Start {
    int64_t first;
    FoldAt made;
  };
  /// A Block has some of the starts, in ascending order. Starts are kept in blocks so that
  /// splitting a piece moves few of them. No block is empty.
  struct Block {
    int64_t first;
    std::vector<Start> starts;
  };
  using Fresh = boost::container::small_vector<Start, 4>;  // what a write puts in place
  static constexpr size_t kMostInBlock = 64;
  struct Position {
    size_t block;
    size_t start;
  };

  Position find(int64_t element) const;
  /// These return the piece before or at a position; null if there is none. They require blocks.
  const Start* before(Position position) const;
  const Start* at(Position position) const;
  Position next(Position position) const;
  /// Replaces the starts in [from, to) by `fresh`.
  void replace(Position from, Position to, const Fresh& fresh);
  void split(size_t block);

  int64_t size_;
  FoldAt whole_;               // of an area without blocks: the first element's
  std::vector<Block> blocks_;  // from the first write on
};

}  // namespace orrery
