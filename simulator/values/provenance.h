#pragma once

// The fold of input elements in each output element: the walk with folds instead of numbers. The
// results hold for all values of all dtypes.

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simulator/schedule/digest.h"
#include "simulator/schedule/progress.h"
#include "simulator/schedule/schedule.h"
#include "simulator/values/piece_map.h"

namespace orrery {

/// Where a rank's operand or result lies in an area: rank r has `count` elements from r x step on.
struct PerRank {
  int64_t step = 0;
  int64_t count = 0;
};

/// Operands in the input area and results in the output area. Usually these are the whole areas,
/// but in-place forms can keep the parts of all ranks in one buffer.
struct Buffers {
  PerRank operand;
  PerRank result;
};
Buffers whole_areas(const Extent& extent);

/// A step that read unwritten elements, left its area, or took a message of another length.
struct Misread {
  StepRef step;
  std::string text;  // in words, with the step
};

struct ProvenanceRun {
  FoldTable folds;  // of all pieces
  /// Per rank: the pieces of its result, ascending and contiguous, with neighbours of the same fold
  /// joined.
  std::vector<Pieces> outputs;
  /// The reductions that steps made, each with the first step that made it, in step order.
  std::map<Combine, StepRef> combines;
  WalkDigest digest;
  std::vector<Parked> stuck;  // channels that could not go on
  /// The first one. The pieces that it should have made count as undefined.
  std::optional<Misread> misread;
  /// Pieces that the steps moved plus contributions that were added up: the cost of the walk.
  uint64_t pieces = 0;
  /// There were more pieces than the budget, and the rest of the walk was skipped. The other
  /// members are then meaningless.
  bool over_budget = false;
};

inline constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

/// Walks `schedule` once with all ranks entering. Every rank's operand element j begins as its own
/// input; the rest of its input area is undefined. Time and memory grow with the steps and the
/// pieces, not with the elements. Requires buffers within the areas.
ProvenanceRun provenance(const Schedule& schedule, const Buffers& buffers, CollectiveId id,
                         Bytes itemsize, uint64_t budget = kUnlimited);

}  // namespace orrery
