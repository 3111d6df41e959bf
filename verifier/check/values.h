#pragma once

// Compares the results of a run's collectives with their definitions, on each op's actual inputs.

#include <map>
#include <optional>
#include <vector>

#include "models/program/program.h"
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
  std::map<LogicalId, OpId> ops_by_device(const Site& site) const;

  const Program& program_;
  const Lowered& lowered_;
  const DeviceValues& values_;
  std::vector<std::optional<ValueId>> result_of_;          // per op: of a collective that has one
  std::vector<ThreadId> thread_of_;                        // per op
  std::vector<std::vector<CollectiveId>> collectives_of_;  // per site
};

}  // namespace orrery
