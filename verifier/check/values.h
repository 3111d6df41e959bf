#pragma once

// Compares the results of a run's collectives with their definitions, on each op's actual operands.
// So an error shows at the op that made it, and not at those that read its result.

#include <optional>
#include <vector>

#include "models/base/callable.h"
#include "models/program/program.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/provenance.h"
#include "simulator/values/values.h"
#include "verifier/verdict.h"

namespace orrery {

/// The folds of a collective that are proved to be those of its definition; null where none are.
using ProvedFolds = FunctionRef<const ProvenanceRun*(const Op&, const Collective&)>;

/// Its arguments must outlive it.
class ValuesAgainstDefinitions {
 public:
  /// Requires the values of a run that ended.
  ValuesAgainstDefinitions(const Program& program, const Lowered& lowered,
                           const DeviceValues& values);

  /// For every member of every group of the site, the result equals the definition applied to the
  /// members' actual operands (VALUES.ORACLE). A check that fails names the first wrong member and
  /// element.
  ///
  /// Sums of floats are added in the order of the proved folds, so they too are equal bit for bit.
  /// Without a proof they are compared by the bounds of oracle/compare.h, which may leave the check
  /// undecided. A start has the result of its last done. If a start is never done on any device
  /// there is no result and no check. A ragged exchange must have the tables by which it was
  /// scheduled, unless they are assumed (TABLES.AGREED).
  std::optional<Check> check(SiteId site, ProvedFolds proved_folds) const;

 private:
  /// The failed check if a member has other tables than those by which the collective was
  /// scheduled.
  std::optional<Check> other_tables(const Collective& collective, CollectiveId id,
                                    const RaggedGroup& tables) const;

  const Program& program_;
  const Lowered& lowered_;
  const DeviceValues& values_;
  const ProgramLists lists_;
  std::vector<std::optional<ValueId>> result_of_;          // per op; empty if it has no result
  std::vector<std::vector<CollectiveId>> collectives_of_;  // per site
};

}  // namespace orrery
