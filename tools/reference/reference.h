#pragma once

// This folder makes reference documents and schemas from the tables that the reader uses. So they
// cannot differ from what orrery accepts.
//  - op_reference() makes docs/ops.md. It goes over all_rules() (models/program/rules.h) and writes
//    one section for each op: its summary, parameters, and states. Texts that are not of one op
//    (the head, the table of states, where JAX differs) are constants in op_reference.cc.
//  - parameters.cc has the sentence, the accepted values and the default of each parameter. Names
//    mean the same in every op, so each name has one sentence.
//  - The schemas are docs/schema. They are of draft 2020-12 and use only what draft 7 has too,
//  which
//    most editors know. The hand-written part is in *.schema.json beside this file, which the build
//    embeds. Ops, dtypes, units and the catalog come from the reader's tables.
// `orrery show ops --format markdown` and `orrery show schema` print them. Tests compare
// docs/ops.md and docs/schema with them byte for byte, and require a sentence for every parameter.
// After a change of an op, write the output of these commands to docs/ again.

#include <span>
#include <string>
#include <string_view>

#include "models/program/rules.h"

namespace orrery {

/// Returns the text that `orrery show ops --format markdown` prints.
std::string op_reference();

/// This is the hand-written part of a schema. Its name is "scenario", "plan" (the keys
/// of its own), "report" or "plan-report".
struct SchemaFile {
  std::string_view name;
  std::string_view json;
};
std::span<const SchemaFile> schema_files();

/// These return the schemas that `orrery show schema` prints and docs/schema holds.
std::string scenario_schema();
/// A law's is the scenario's with holes allowed for values.
std::string law_schema();
/// So is a plan's.
std::string plan_schema();
std::string report_schema();
std::string plan_report_schema();

/// Returns the sentence for a parameter. The result is empty for an unknown name; a test requires a
/// sentence for every parameter.
std::string_view parameter_summary(std::string_view name);

/// Returns the values that may be given: "a whole number, at least 1", "\"eager\" or
/// \"rendezvous\"".
std::string parameter_domain(const Parameter& parameter);

/// Returns the value of an optional parameter that is not given: "2", "false". The result is empty
/// if it has none.
std::string parameter_default(const Parameter& parameter);

/// Returns whether every collective has the parameter, except for the halves of a transfer.
bool is_common(const Parameter& parameter);

}  // namespace orrery
