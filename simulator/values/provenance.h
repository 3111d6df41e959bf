#pragma once

// provenance() finds the fold of input elements in each output element: it walks a schedule with
// folds instead of numbers. The results hold for all values of all dtypes.

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simulator/schedule/digest.h"
#include "simulator/schedule/schedule.h"
#include "simulator/schedule/walk.h"
#include "simulator/values/piece_map.h"

namespace orrery {

/// PerRank says where a rank's operand or result lies: `count` elements from rank x step on.
struct PerRank {
  int64_t step = 0;
  int64_t count = 0;
};

/// Buffers says where operands lie in the input area and results in the output area. Usually they
/// are the whole areas, but in-place forms can keep the parts of all ranks in one buffer.
struct Buffers {
  PerRank operand;
  PerRank result;
};
Buffers whole_areas(const Extent& extent);

/// A Misread step read unwritten elements, left its area, or took a message of another length.
struct Misread {
  StepRef step;
  std::string text;  // in words, with the step
};

struct ProvenanceRun {
  FoldTable folds;  // of all pieces
  /// Per rank: the pieces of the rank's result, ascending and contiguous, with neighbours of the
  /// same fold joined.
  std::vector<Pieces> outputs;
  /// The reductions that steps made, each with the first step that made it, in step order.
  std::map<Combine, StepRef> combines;
  WalkDigest digest;
  std::vector<Parked> stuck;  // channels that could not go on
  /// The first misread. The pieces that the step should have made count as undefined.
  std::optional<Misread> misread;
  /// The number of pieces moved and of contributions added up: the cost of the walk.
  uint64_t pieces = 0;
  /// Whether there were more pieces than the budget. The rest of the walk was then skipped, and the
  /// other members are meaningless.
  bool over_budget = false;
};

inline constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

/// Walks `schedule` once with all ranks entering. Every rank's operand element j begins as its own
/// input; the rest of its input area is undefined. Time and memory grow with the steps and the
/// pieces, not with the elements. Requires buffers within the areas. `order` is that of the
/// schedule (walk.h) if it is known, else null.
ProvenanceRun provenance(const Schedule& schedule, const Buffers& buffers, CollectiveId id,
                         Bytes itemsize, uint64_t budget = kUnlimited,
                         const std::vector<OrderedHalf>* order = nullptr);

}  // namespace orrery
