#pragma once

// Checks documents by JSON Schema as an independent library (valijson) implements it.

#include <string>

#include <nlohmann/json.hpp>

namespace orrery::test {

/// Returns the first error that the schema finds in the document, beginning with its location; ""
/// if the document is valid.
std::string schema_error(const nlohmann::ordered_json& schema,
                         const nlohmann::ordered_json& document);

}  // namespace orrery::test
