#pragma once

// JSON Schema as an independent library (valijson) implements it.

#include <string>

#include <nlohmann/json.hpp>

namespace orrery::test {

/// The first error that the schema finds in the document, its location first; empty where it is
/// valid.
std::string schema_error(const nlohmann::ordered_json& schema,
                         const nlohmann::ordered_json& document);

}  // namespace orrery::test
