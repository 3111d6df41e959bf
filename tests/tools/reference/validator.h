#pragma once

// JSON Schema as an independent library has it (valijson).

#include <string>

#include <nlohmann/json.hpp>

namespace orrery::test {

/// What the schema refuses in the document, the place first; empty where it takes it.
std::string schema_error(const nlohmann::ordered_json& schema,
                         const nlohmann::ordered_json& document);

}  // namespace orrery::test
