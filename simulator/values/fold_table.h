#pragma once

// How elements come about: which inputs, folded by which operations in which order. Folds share
// their parts, and equal folds are one: a ring over n ranks has n sums that begin at each rank, and
// each of them is held once, whatever the number of nodes and elements that have it.

#include <cstdint>
#include <span>
#include <vector>

#include "models/array/combine.h"
#include "models/array/storage.h"
#include "models/array/work.h"
#include "models/base/id.h"
#include "simulator/values/contributions.h"

namespace orrery {

using FoldId = Id<struct FoldTag>;

/// One way to make an element. It says nothing of places: those of the inputs follow from one of
/// them, the origin, and from how far the inputs are apart.
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
  /// Of a Combine: from the origin of the left side to that of the right.
  int64_t shift = 0;
  friend bool operator==(const Fold&, const Fold&) = default;
};

/// A fold with its origin: the operand element that its leftmost input is. 0 where it has no
/// inputs.
struct FoldAt {
  FoldId fold;
  int64_t origin = 0;
  friend bool operator==(const FoldAt&, const FoldAt&) = default;

  bool has_inputs() const { return fold.index() >= kWithoutInputs; }
  /// The same fold of inputs so much further on.
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

  /// Which inputs are in a fold, and how often, by no order: with sources counted from the origin.
  std::span<const Contribution> contributions(FoldId id) const;
  /// The same with sources as they are.
  Contributions contributions(FoldAt at) const;
  /// Entries in the lists of all folds.
  size_t all_contributions() const { return contributions_.size(); }

  /// `count` elements from `at` on, each folded as the fold says with every operation rounded to
  /// the work type. `operands` has the canonical work elements of each rank. Requires that nothing
  /// is undefined.
  Storage evaluate(FoldAt at, int64_t count, WorkType type,
                   std::span<const std::byte* const> operands) const;

 private:
  FoldId intern(const Fold& fold);
  /// Where `fold` is or belongs in known_.
  size_t slot_of(const Fold& fold) const;
  void add(const Fold& fold);
  void grow();

  std::vector<Fold> folds_;
  std::vector<Contribution> contributions_;  // of all folds, one list after the other
  std::vector<uint64_t> ends_;               // of the list of each fold
  /// Open addressing by what a fold is: its index, or 0 where there is none. (Fold 0 is not looked
  /// up.)
  std::vector<uint32_t> known_;
};

}  // namespace orrery
