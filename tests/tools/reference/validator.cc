#include "tests/tools/reference/validator.h"

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace orrery::test {

std::string schema_error(const nlohmann::ordered_json& schema,
                         const nlohmann::ordered_json& document) {
  const auto schema_json = nlohmann::json::parse(schema.dump());
  const auto document_json = nlohmann::json::parse(document.dump());
  valijson::Schema parsed;
  valijson::SchemaParser(valijson::SchemaParser::kDraft7)
      .populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_json), parsed);
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(parsed, valijson::adapters::NlohmannJsonAdapter(document_json), &results))
    return "";
  std::string text;
  for (const valijson::ValidationResults::Error& error : results) {
    for (const std::string& place : error.context)
      text += place;
    text += ": " + error.description + "\n";
  }
  return text;
}

}  // namespace orrery::test
