#pragma once

// The examples of docs/scenario.md, and the files of the project that the tests here compare.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace orrery::test {

using Json = nlohmann::ordered_json;

/// A file of the project.
std::string text_of(const std::string& path);

/// With comments, as scenarios may have.
Json json_of(const std::string& text);

/// Every scenario below scenarios/, by its path.
std::vector<std::string> scenario_paths();

/// The document's examples as whole scenarios. An example that is not a whole scenario is merged
/// into the first one, without its outputs and expectations.
std::vector<Json> document_examples();

}  // namespace orrery::test
