#pragma once

// This file computes the values of folds on actual inputs: what a schedule makes of the inputs,
// from its folds alone. Nothing here runs a step.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "models/array/work.h"
#include "models/base/callable.h"
#include "simulator/values/piece_map.h"

namespace orrery {

/// This callback gets elements [first, first + count) of a node's result.
using VisitFoldValues =
    FunctionRef<void(Rank node, int64_t first, const std::byte* values, int64_t count)>;

/// Visits every element of every node's result, in stretches. Each element is computed in its
/// fold's order, and every operation is rounded to the dtype in which elements are held (Folding).
/// Parts that several nodes have in common are computed once. `results` has the pieces of each
/// node's result; none may be undefined. `operands` has the canonical elements of each rank.
/// Operands and visited values are in the dtype in which elements are held.
void for_each_fold_value(const FoldTable& folds, std::span<const Pieces> results,
                         const Folding& folding, std::span<const std::byte* const> operands,
                         VisitFoldValues visit);

/// FoldValues does the same for many sets of operands. The part that depends on the folds alone is
/// worked out once, and kept. The folds must outlive this object.
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
