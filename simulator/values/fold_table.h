#pragma once

// Folds: which inputs made an element, by which operations in which order. Folds share their parts,
// and equal folds are stored once. A ring over n ranks has n sums that begin at each rank; each is
// held once, for any number of nodes and elements.

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "models/array/combine.h"
#include "models/base/id.h"

namespace orrery {

/// How often input elements went into one element. The contributions of a piece (piece_map.h) are
/// kept as runs of ranks. So a sum over all ranks of a ring is one entry, and a partial sum at most
/// two.
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

/// Sorted. The runs of a source are disjoint and as long as possible, so equal sums have equal
/// lists.
using Contributions = std::vector<Contribution>;

/// The contributions of an element that combines two others: their times added, saturating at 2^32
/// - 1.
Contributions sum(const Contributions& a, const Contributions& b);

using FoldId = Id<struct FoldTag>;

/// One way to make an element. It has no positions: those of the inputs follow from one of them,
/// the origin, and the distances between the inputs.
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
  /// In a Combine: the distance from the left side's origin to the right side's.
  int64_t shift = 0;
  friend bool operator==(const Fold&, const Fold&) = default;
};

/// A fold with its origin: the operand element that is its leftmost input. 0 if it has no inputs.
struct FoldAt {
  FoldId fold;
  int64_t origin = 0;
  friend bool operator==(const FoldAt&, const FoldAt&) = default;

  bool has_inputs() const { return fold.index() >= kWithoutInputs; }
  /// The same fold, with all inputs so many elements further on.
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
  /// left (op) right; undefined where either is, zero where both are.
  FoldAt combine(Combine op, FoldAt left, FoldAt right);

  const Fold& fold(FoldId id) const { return folds_[id.index()]; }
  size_t size() const { return folds_.size(); }

  /// Which inputs are in a fold and how often, regardless of order. Sources count from the origin.
  std::span<const Contribution> contributions(FoldId id) const;
  /// The same, with sources counted from 0.
  Contributions contributions(FoldAt at) const;
  /// Entries in the lists of all folds.
  size_t all_contributions() const { return contributions_.size(); }

 private:
  FoldId intern(const Fold& fold);
  /// The entry of `fold` in known_, or where it belongs.
  size_t slot_of(const Fold& fold) const;
  void add(const Fold& fold);
  void grow();

  std::vector<Fold> folds_;
  std::vector<Contribution> contributions_;  // of all folds, one list after the other
  std::vector<uint64_t> ends_;               // of the list of each fold
  /// Open addressing, hashed by the fold: its index, or 0 for a free entry. (Fold 0 is not looked
  /// up.)
  std::vector<uint32_t> known_;
};

}  // namespace orrery
