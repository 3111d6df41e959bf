#pragma once

// This folder makes reference documents and schemas from the tables that the reader uses. So they
// cannot differ from what orrery accepts.
//  - op_reference() makes docs/ops.md. It goes over all_rules() (models/program/rules.h) and writes
//    one section for each op: its summary, parameters, and states. Texts that are not of one op
//    (the head, the table of states, where JAX differs) are constants in op_reference.cc.
//  - parameters.h has the sentence, the accepted values and the default of each parameter. Names
//    mean the same in every op, so each name has one sentence.
//  - schema.h makes the JSON Schemas of scenarios and reports, docs/schema. It completes a
//    hand-written file, scenario.schema.json or report.schema.json, which the build embeds.
// `orrery show ops --format markdown` and `orrery show schema` print them. Tests compare
// docs/ops.md and docs/schema with them byte for byte, and require a sentence for every parameter.
// After a change of an op, write the output of these commands to docs/ again.

#include <string>

namespace orrery {

/// Returns the text that `orrery show ops --format markdown` prints.
std::string op_reference();

}  // namespace orrery
