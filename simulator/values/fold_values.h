#pragma once

// The values of folds on actual inputs: what a schedule makes of them, known from its folds alone.
// Nothing here runs a step.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "models/array/work.h"
#include "models/base/callable.h"
#include "simulator/values/piece_map.h"

namespace orrery {

/// Elements [first, first + count) of a node's result.
using VisitFoldValues =
    FunctionRef<void(Rank node, int64_t first, const std::byte* values, int64_t count)>;

/// Visits every element of every node's result, in stretches, each computed in its fold's order
/// with every operation rounded to the dtype that is held. What several nodes have in common is
/// computed once. `results` has the pieces of each node's result, of which none is undefined, and
/// `operands` the canonical elements of each rank, as they are held; so are `values`.
void for_each_fold_value(const FoldTable& folds, std::span<const Pieces> results,
                         const Folding& folding, std::span<const std::byte* const> operands,
                         VisitFoldValues visit);

/// The same for many operands: what depends on the folds alone is worked out once, and kept. The
/// folds must outlive this object.
class FoldValues {
 public:
  FoldValues(const FoldTable& folds, std::span<const Pieces> results, const Folding& folding);
  ~FoldValues();

  void for_each(std::span<const std::byte* const> operands, VisitFoldValues visit);

 private:
  struct Plans;
  std::unique_ptr<Plans> plans_;
};

}  // namespace orrery
