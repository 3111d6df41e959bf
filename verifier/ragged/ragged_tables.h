#pragma once

// The tables of ragged exchanges, before anything is lowered: schedules depend on them. What they
// depend on is computed by the definitions of ops, other collectives included, and nothing else. Or
// the scenario's "assume_sizes" stand for them, in a run that cannot have their values.

#include <memory>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "verifier/report.h"
#include "verifier/run.h"

namespace orrery {

/// A scenario whose sites have their tables.
struct Tabled {
  std::shared_ptr<const Scenario> scenario;
  std::vector<std::string> labels;  // of each op whose sizes are assumed, and why
  std::vector<Check> checks;        // TABLES.AGREED of each other one
  bool agree = true;                // false: the sites that do not agree exchange nothing
};

/// Sizes are assumed where the tables depend on an opaque computation, on a loop of which
/// iterations are left out, or on values beyond the data budget; and with Data::Off wherever the op
/// has "assume_sizes". Throws InputError if it has none where they are needed, and if tables depend
/// on themselves.
Tabled with_tables(std::shared_ptr<const Scenario> scenario, const RunOptions& options);

/// TABLES.AGREED of a site: every slice lies in its operand and in its receiver's result, and is as
/// large as the receiver's recv_sizes say, and no two slices overlap in a result. Offsets of slices
/// without rows do not matter. JAX leaves open what happens where this does not hold. The check
/// then names the first wrong entry, by group, sender and table; of overlaps the lowest rows of the
/// first receiver.
Check tables_agreed(const Program& program, SiteId site, const SiteTables& tables);

}  // namespace orrery
