#pragma once

// Proves that a schedule computes what its collective is defined as, for all values of all dtypes.
//  1. trace() walks the schedule with folds instead of numbers (simulator/values/provenance.h).
//     Each result element becomes a tree of operand elements.
//  2. The definition (verifier/definition/definitions.h) names the operand elements of each result
//     element, in parts by strides. canonical.cc moves these parts to the offsets of schedules.
//  3. prove() compares the two, piece by piece.
// The walk is one of many orders that the causes allow. All orders make the same folds only if no
// two steps race, so a schedule with a race is not proved. The cost grows with the pieces of the
// schedule and the parts of the definition, not with the elements.
//
// prover.h proves the sites of a program. Equal schedules, also of other groups and iterations, are
// proved once (KnownSchedules), within a budget of steps and pieces. A proof also keeps the folds
// that it found: sums of floats are compared with the definition in that order.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/callable.h"
#include "simulator/schedule/schedule.h"
#include "simulator/schedule/view.h"
#include "simulator/values/provenance.h"
#include "verifier/check/step_races.h"
#include "verifier/definition/definitions.h"

namespace orrery {

/// This is one walk of a schedule with folds instead of numbers. Digests are those of collective
/// number 0 with elements of one byte.
struct Traced {
  ProvenanceRun run;
  WalkDigest expected;  // of a walk that runs every half once and moves what the steps say
  StepRaces races;
};
/// Walks the schedule. `budget` covers the pieces of the walk. The second form is given the races
/// of the schedule's steps, and the first looks for them without a limit. `order` is that of the
/// schedule (walk.h) if it is known, else null.
Traced trace(const Schedule& schedule, const Buffers& buffers, uint64_t budget = kUnlimited);
Traced trace(const Schedule& schedule, const Buffers& buffers, StepRaces races, uint64_t budget,
             const std::vector<OrderedHalf>* order = nullptr);

/// Says where the canonical elements of the schedule lie in operands and results.
struct Views {
  const View& input;
  const View& output;
};

struct Proof {
  bool holds = true;
  std::string why_not;  // a sentence without the full stop
  std::vector<std::pair<std::string, std::string>> witness = {};
  bool over_budget = false;  // neither proved nor refuted
};

/// Compares the walk with the definition. The proof holds if no two steps race and every node's
/// result is right. That is, the result is made of exactly the contributions that the definition of
/// its rank names, each once, by the definition's reduction, at the offsets of the views. A proof
/// that fails has the race, or the first wrong element by rank and offset with one contribution
/// that is missing, extra or repeated. `budget` covers the pieces of the walk
/// (ProvenanceRun::pieces) and the stretches that are compared. The proof stops where the budget is
/// spent.
Proof prove(const Traced& traced, const Views& views, FunctionRef<Definition(Rank)> definition,
            uint64_t budget = kUnlimited);

// canonical.cc moves the parts of a definition from offsets in tensors to the canonical offsets
// that schedules use. It goes part by part through the views, not element by element.

/// Returns the canonical element at each offset of the tensor, as a view of the canonical elements.
/// The result is empty unless the view gives each offset of its tensor exactly one canonical
/// element.
std::optional<View> inverse(const View& view);

/// Calls visit(part) for parts that together have the same pairs of elements, each once. `result`
/// is applied to the offsets in the result and `operand` to those in the operands. There is one
/// part if no step of the given part leaves a dimension of a view, and several if one does. The
/// calls end with the first that returns false. Requires offsets within both views. The operand
/// offsets of zeros, which come from no rank, are ignored.
void for_each_moved(const Part& part, const View& result, const View& operand,
                    FunctionRef<bool(const Part&)> visit);

}  // namespace orrery
