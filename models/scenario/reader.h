#pragma once

// This reads a scenario's JSON text, or reports all its errors at once.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/scenario/document.h"
#include "models/scenario/scenario.h"
#include "models/scenario/size_limits.h"

namespace orrery {

class Fields;

/// Reads a scenario. Messages name the text by `file_name`. If `cluster` is given, it replaces the
/// cluster of the text, which is not looked at. The loops of the program are regions
/// (models/program/program.h), whose iterations are checked too. `exits` are names of values of
/// single iterations, such as "l[3].y". The program gets them as exits, as if the text named them.
/// Other names there have no effect. Throws InputError with all errors, each with its position.
Scenario read_scenario(std::string file_name, std::string_view text, const Limits& limits = {},
                       const std::optional<Cluster>& cluster = {},
                       std::span<const std::string> exits = {});

/// ScenarioDefaults are what a scenario has where its text says nothing.
struct ScenarioDefaults {
  /// Makes the cluster for a mesh of so many devices. If it is null, the text must have one.
  std::function<Cluster(uint32_t devices)> cluster = {};
  Init init = RandomInit();  // of arrays
};

/// Tells the fields of an outermost object each key that a scenario may have there.
void know_scenario_keys(Fields& fields);

/// Reads a scenario from a document. Throws InputError.
Scenario read_scenario(std::string file_name, const Document& document, const Limits& limits,
                       const ScenarioDefaults& defaults);

/// Reads the file. Throws InputError also if the file cannot be read.
Scenario load_scenario(const std::string& path, const Limits& limits = {},
                       const std::optional<Cluster>& cluster = {});

}  // namespace orrery
