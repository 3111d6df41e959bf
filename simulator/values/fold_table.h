#pragma once

// A Fold says which inputs made an element, by which operations, in which order. Folds share their
// parts, and equal folds are stored once. A ring over n ranks has n sums that begin at each rank;
// each is stored once, for any number of nodes and elements.

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "models/array/combine.h"
#include "models/base/id.h"

namespace orrery {

/// A Contribution says how often input elements went into one element. The contributions of a piece
/// (piece_map.h) are kept as runs of ranks. So a sum over all ranks of a ring is one entry, and a
/// partial sum at most two.
///
/// Element j of a piece that begins at `first` contains input element source + (j - first) of each
/// of the ranks [rank, rank + ranks), `times` times each.
struct Contribution {
  Rank rank;
  uint32_t ranks = 1;
  int64_t source = 0;
  uint32_t times = 1;
  friend auto operator<=>(const Contribution&, const Contribution&) = default;
};

/// Contributions are sorted. The runs of a source are disjoint and as long as possible, so equal
/// sums have equal lists.
using Contributions = std::vector<Contribution>;

/// Returns the contributions of an element that combines two others. Their times are added,
/// saturating at 2^32 - 1.
Contributions sum(const Contributions& a, const Contributions& b);

using FoldId = Id<struct FoldTag>;

/// A Fold is one way to make an element. It has no positions: the positions of the inputs follow
/// from the origin, which is the position of one input, and from the distances between the inputs.
struct Fold {
  enum class Kind : uint8_t {
    Undefined,  // nothing was written
    Zero,
    Input,    // the element of `rank` at the origin
    Combine,  // `left` (op) `right`
  };
  Kind kind = Kind::Undefined;
  Combine op = Combine::None;
  Rank rank;
  FoldId left;
  FoldId right;
  /// In a Combine, it is the distance from the left side's origin to the right side's.
  int64_t shift = 0;
  friend bool operator==(const Fold&, const Fold&) = default;
};

/// A FoldAt is a fold with its origin: the operand element that is its leftmost input. The origin
/// is 0 if there are no inputs.
struct FoldAt {
  FoldId fold;
  int64_t origin = 0;
  friend bool operator==(const FoldAt&, const FoldAt&) = default;

  bool has_inputs() const { return fold.index() >= kWithoutInputs; }
  /// Returns the same fold with all inputs `distance` elements further on.
  FoldAt moved(int64_t distance) const { return {fold, has_inputs() ? origin + distance : 0}; }

  /// Folds 0 and 1 are Undefined and Zero; all others have inputs.
  static constexpr uint32_t kWithoutInputs = 2;
};

class FoldTable {
 public:
  FoldTable();

  static FoldAt undefined() { return {FoldId(0), 0}; }
  static FoldAt zero() { return {FoldId(1), 0}; }
  FoldAt input(Rank rank, int64_t element);
  /// Returns left (op) right: undefined if either side is, zero if both are.
  FoldAt combine(Combine op, FoldAt left, FoldAt right);

  const Fold& fold(FoldId id) const { return folds_[id.index()]; }
  size_t size() const { return folds_.size(); }

  /// Returns which inputs are in a fold, and how often. Sources count from the origin.
  std::span<const Contribution> contributions(FoldId id) const;
  /// Returns the same with sources counted from 0.
  Contributions contributions(FoldAt at) const;
  /// Returns the number of entries in the lists of all folds.
  size_t all_contributions() const { return contributions_.size(); }

 private:
  FoldId intern(const Fold& fold);
  /// Returns the entry of `fold` in known_, or the free one where it belongs.
  size_t slot_of(const Fold& fold) const;
  void add(const Fold& fold);
  void grow();

  std::vector<Fold> folds_;
  std::vector<Contribution> contributions_;  // of all folds, one list after the other
  std::vector<uint64_t> ends_;               // of the list of each fold
  /// A hash table with open addressing. An entry is the index of a fold, or 0 if it is free. (Fold
  /// 0 is not looked up.)
  std::vector<uint32_t> known_;
};

}  // namespace orrery
