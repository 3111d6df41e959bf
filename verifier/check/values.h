#pragma once

// Compares the results of a run's collectives with their definitions, on each op's actual inputs.

#include <optional>
#include <vector>

#include "models/program/program.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/values.h"
#include "verifier/report.h"

namespace orrery {

/// Its arguments must outlive it.
class ValuesAgainstDefinitions {
 public:
  /// Requires the values of a run that ended.
  ValuesAgainstDefinitions(const Program& program, const Lowered& lowered,
                           const DeviceValues& values);

  /// For every member of every group of the site, the result equals the definition applied to the
  /// members' actual operands, as exactly as oracle/compare.h requires (VALUES.ORACLE). Otherwise
  /// names the first wrong group, member and element. The result of a start is that of its last
  /// done. A start that is never done has no result; if that is so on all devices, there is no
  /// check.
  std::optional<Check> check(SiteId site) const;

 private:
  const Program& program_;
  const Lowered& lowered_;
  const DeviceValues& values_;
  const ProgramLists lists_;
  std::vector<std::optional<ValueId>> result_of_;          // per op: of a collective that has one
  std::vector<std::vector<CollectiveId>> collectives_of_;  // per site
};

}  // namespace orrery
