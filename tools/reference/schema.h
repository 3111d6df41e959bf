#pragma once

// Makes the JSON Schemas of a scenario, of a law, of a plan and of reports. They are of draft 2020-12 and use
// only what draft 7 has too, which most editors know. The hand-written part is in *.schema.json
// beside this file. Ops, dtypes, units and the catalog come from the reader's tables.

#include <span>
#include <string>
#include <string_view>

namespace orrery {

/// This is the hand-written part of a schema. Its name is "scenario", "plan" (the keys
/// of its own), "report" or "plan_report".
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

}  // namespace orrery
