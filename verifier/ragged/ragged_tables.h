#pragma once

// Finds the tables of ragged exchanges. Schedules depend on them, so this stage comes before
// anything is lowered. It takes three steps:
//  1. It finds the sites whose tables it does not compute. These depend on an opaque computation,
//     on a loop with iterations left out, on sizes that are assumed, or on values that take too
//     much memory. The op's "assume_sizes" stand for their tables.
//  2. It computes the values that all other tables depend on by the definitions of the ops
//     (DefinedValues), collectives included. It needs no schedule for that.
//  3. It checks each computed table (TABLES.AGREED). A site whose tables do not agree exchanges
//     nothing, and the program is then not timed.
// The program is not changed: its tables lie beside it.

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "models/program/ragged.h"
#include "models/scenario/scenario.h"
#include "verifier/verdict.h"

namespace orrery {

struct TableOptions {
  uint64_t seed = 0;  // of the initial values
  /// The most bytes that all values on which tables depend may take together.
  Bytes budget;
  /// Says whether the sizes of an op that has "assume_sizes" are assumed where they could be
  /// computed.
  enum class Assume : uint8_t { WhereNeeded, WhereGiven } assume = Assume::WhereNeeded;
  /// If iterations are left out: why not all are written, which errors say. It may be empty.
  std::string too_many_iterations = {};
};

struct FoundTables {
  RaggedTables tables;              // of every site that exchanges by tables
  std::vector<std::string> labels;  // for each op whose sizes are assumed, with the reason
  std::vector<Check> checks;        // TABLES.AGREED of each site whose sizes are not assumed
  bool agree = true;                // whether all these checks hold
};

/// Returns whether an op lacks "assume_sizes" and needs them only since iterations are left out.
bool need_all_iterations(const Scenario& scenario, const TableOptions& options);

/// Finds the tables. Throws InputError if an op lacks "assume_sizes" where they are needed, and if
/// tables depend on themselves.
FoundTables find_tables(const Scenario& scenario, const TableOptions& options);

/// Returns TABLES.AGREED of a site. It holds if every slice lies in its operand and in its
/// receiver's result, and is as large as the receiver's recv_sizes say. No two slices may overlap
/// in a result. Offsets of slices without rows do not matter. JAX leaves open what happens where
/// this does not hold. A check that fails names the first wrong entry, by group, sender and table.
/// For overlaps it names the lowest rows of the first receiver. The message says so if the tables
/// would agree with output_offsets in the receiver's view.
Check tables_agreed(const Program& program, SiteId site, const SiteTables& tables);

}  // namespace orrery
