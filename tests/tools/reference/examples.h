#pragma once

// Reads the examples of docs/scenario.md, and the files of the project that the tests here compare.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace orrery::test {

using Json = nlohmann::ordered_json;

/// Returns the text of a file of the project.
std::string text_of(const std::string& path);

/// Parses JSON that may have comments, as scenarios may.
Json json_of(const std::string& text);

/// Returns the path of every scenario below scenarios/.
std::vector<std::string> scenario_paths();
/// Returns the paths of the plans.
std::vector<std::string> plan_paths();

/// Returns the document's examples as whole scenarios. An example that is not a whole scenario is
/// merged into the first one, without that one's outputs and expectations.
std::vector<Json> document_examples();

}  // namespace orrery::test
