#pragma once

// Writes pieces as the contributions that they are made of, whatever the order of the folds.

#include <vector>

#include "simulator/values/piece_map.h"

namespace orrery::test {

/// Element first + j of a piece is made of the contributions, each j elements further on.
struct MadePiece {
  int64_t first = 0;
  int64_t count = 0;
  bool undefined = false;
  Contributions made_of;
  friend bool operator==(const MadePiece&, const MadePiece&) = default;
};

using MadePieces = std::vector<MadePiece>;

/// Converts pieces. Joins adjacent pieces of the same contributions.
inline MadePieces made(const FoldTable& folds, const Pieces& pieces) {
  MadePieces result;
  for (const Piece& piece : pieces) {
    MadePiece next{piece.first, piece.count, piece.undefined(), folds.contributions(piece.made)};
    if (!result.empty()) {
      MadePiece continued = result.back();
      for (Contribution& c : continued.made_of)
        c.source += continued.count;
      if (continued.undefined == next.undefined && continued.made_of == next.made_of) {
        result.back().count += next.count;
        continue;
      }
    }
    result.push_back(std::move(next));
  }
  return result;
}

}  // namespace orrery::test
