#pragma once

// Compares the results of a program's collectives with their definitions, on each op's actual
// operands. So an error shows at the op that made it, and not at those that read its result.
//
// Each run of a collective is compared when it has ended; its tensors need not be kept. The
// definitions, and the plan by which the proved folds are computed, depend on the site alone. They
// are worked out in the first of its runs.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "models/program/program.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/live_values.h"
#include "simulator/values/provenance.h"
#include "simulator/values/values.h"
#include "verifier/verdict.h"

namespace orrery {

/// Returns the folds of a collective that are proved to be those of its definition; null where none
/// are.
using ProvedFolds = std::function<const ProvenanceRun*(const Op&, const Collective&)>;

/// The program, its lowered form and proved folds must outlive it.
class ValuesAgainstDefinitions {
 public:
  ValuesAgainstDefinitions(const Program& program, const Lowered& lowered,
                           ProvedFolds proved_folds);
  ~ValuesAgainstDefinitions();

  /// Compares what the members got in one run of a collective.
  void add(const EndedRun& run);
  /// Compares all collectives of a program without loops, which has ended with these values.
  void add(const DeviceValues& values);

  /// Returns the check that the result equals the definition applied to the members' actual
  /// operands (VALUES.ORACLE), for every member of every group of the site, in each run. A check
  /// that fails names the first wrong iteration, member and element.
  ///
  /// Sums of floats are added in the order of the proved folds, so they too are equal bit for bit.
  /// Without a proof they are compared by the bounds of definition/compare.h, which may leave the
  /// check undecided. Starts without a done are not compared. If no member was compared there is no
  /// check. A ragged exchange must have the tables by which it was scheduled, unless they are
  /// assumed (TABLES.AGREED).
  std::optional<Check> check(SiteId site) const;

  /// Returns the checks of all sites, in order.
  std::vector<Check> checks() const;

 private:
  struct Group;
  struct OfSite;

  std::unique_ptr<Group> make_group(const EndedRun& run) const;
  void compare(Group& group, const EndedRun& run, OfSite& site) const;

  const Program& program_;
  const Lowered& lowered_;
  const ProvedFolds proved_folds_;
  std::vector<bool> is_ended_;                  // per op: a started one has a done
  std::vector<std::unique_ptr<Group>> groups_;  // per collective that runs again; else null
  std::vector<OfSite> sites_;
};

/// Returns the checks that the arrays of each reshard are bitwise equal in all groups that have
/// them, as far as there are values. There is none for a reshard without such arrays.
std::vector<Check> replicas_equal(const Program& program, const DeviceValues& values);

}  // namespace orrery
