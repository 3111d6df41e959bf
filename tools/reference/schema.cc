#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/array/dtype.h"
#include "models/base/callable.h"
#include "models/base/check.h"
#include "models/fabric/fabric.h"
#include "models/program/core_map.h"
#include "models/program/rules.h"
#include "models/scenario/draw.h"
#include "models/scenario/expression.h"
#include "models/scenario/op_reader.h"
#include "models/scenario/program_reader.h"
#include "models/scenario/quantity_text.h"
#include "simulator/algorithm/algorithms.h"
#include "tools/reference/reference.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

struct Quantity {
  std::string_view
      name;  // its name in $defs; with "_figure" after it a figure that may have a source
  Dimension dimension;
};
constexpr std::array kQuantities = {
    Quantity{"time", Dimension::Time},          Quantity{"size", Dimension::Size},
    Quantity{"rate", Dimension::Rate},          Quantity{"work", Dimension::Work},
    Quantity{"work_rate", Dimension::WorkRate},
};

Json handwritten(std::string_view name) {
  for (const SchemaFile& file : schema_files())
    if (file.name == name)
      return Json::parse(file.json);
  fail_check("name is a schema's", "the schemas are embedded", __FILE__, __LINE__);
}

Json reference(std::string_view definition) {
  return {{"$ref", fmt::format("#/$defs/{}", definition)}};
}

Json or_null(Json schema) {
  return {{"anyOf", {std::move(schema), {{"type", "null"}}}}};
}

/// Returns a pattern for the key with the suffix of a unit: "^key(_ps|_ns|...)$".
std::string suffixed(std::string_view key, Dimension dimension) {
  std::string suffixes;
  for (const QuantityUnit& unit : units(dimension))
    suffixes += fmt::format("{}{}", suffixes.empty() ? "" : "|", unit.suffix);
  return fmt::format("^{}({})$", key, suffixes);
}

/// Returns the schema of a whole number, whose unit the key names.
Json count() {
  return {{"type", "integer"}, {"minimum", 0}};
}

void define_quantities(Json& definitions) {
  for (const Quantity& quantity : kQuantities) {
    std::string names;
    for (const QuantityUnit& unit : units(quantity.dimension))
      names += fmt::format("{}{}", names.empty() ? "" : "|", unit.name);
    definitions[quantity.name] = {
        {"type", "string"},
        {"description", fmt::format("{}; or a whole number under the key with the unit's suffix.",
                                    example(quantity.dimension))},
        {"pattern", fmt::format("^[0-9]+([.][0-9]+)? ?({})$", names)}};
    definitions[fmt::format("{}_figure", quantity.name)] = {
        {"anyOf",
         {reference(quantity.name),
          {{"type", "object"},
           {"description", "The amount with where it is from."},
           {"required", {"label", "source", "date"}},
           {"additionalProperties", false},
           {"properties",
            {{"value", reference(quantity.name)},
             {"label", {{"type", "string"}, {"examples", {"published", "calibrated"}}}},
             {"source", {{"type", "string"}}},
             {"date", {{"type", "string"}}}}}}}}};
  }
}

/// For every key with a quantity, adds the keys with a unit's suffix, which have whole numbers.
void add_suffixed_keys(Json& schema) {
  if (!schema.is_structured())
    return;
  for (Json& part : schema)
    add_suffixed_keys(part);
  if (!schema.is_object() || !schema.contains("properties"))
    return;
  const Json properties = schema["properties"];
  for (const auto& property : properties.items()) {
    if (!property.value().is_object() || !property.value().contains("$ref"))
      continue;
    const Json& target = property.value()["$ref"];
    for (const Quantity& quantity : kQuantities)
      if (target == reference(quantity.name)["$ref"] ||
          target == reference(fmt::format("{}_figure", quantity.name))["$ref"])
        schema["patternProperties"][suffixed(property.key(), quantity.dimension)] = count();
  }
}

Json integers(const Parameter& parameter) {
  Json integer = {{"type", "integer"}};
  if (parameter.least)
    integer["minimum"] = *parameter.least;
  if (parameter.most)
    integer["maximum"] = *parameter.most;
  return integer;
}

Json list_of(Json items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}

Json amount(std::string_view quantity) {
  return {{"anyOf", {reference(quantity), count()}}};
}

Json value_schema(const Parameter& parameter, OpKind kind) {
  switch (parameter.kind) {
    case ParameterKind::Boolean:
      return {{"type", "boolean"}};
    case ParameterKind::Integer:
      return integers(parameter);
    case ParameterKind::Number:
      return reference("number_or_pair");
    case ParameterKind::Text: {
      if (!parameter.choices.empty())
        return {{"enum", parameter.choices}};
      Json text = {{"type", "string"}};
      if (parameter.name == "algorithm")
        for (const Algorithm* algorithm : algorithms_for(kind))
          text["examples"].push_back(algorithm->name);
      return text;
    }
    case ParameterKind::Names:
      return reference(reduction_over_dimensions(kind) ? "axes" : "names");
    case ParameterKind::Integers:
      return list_of(integers(parameter));
    case ParameterKind::IntegerLists:
      return list_of(list_of({{"type", "integer"}}));
    case ParameterKind::DimensionNumbers:
      return reference("dimension_numbers");
    case ParameterKind::DtypeName:
      return reference("dtype");
    case ParameterKind::FlopCount:
      return amount("work");
    case ParameterKind::ByteCount:
      return amount("size");
    case ParameterKind::Functions:
      return reference("core_functions");
    case ParameterKind::WorkCount:
      break;
  }
  return {{"type", "object"},
          {"additionalProperties", false},
          {"properties", {{"flops", amount("work")}, {"bytes", amount("size")}}},
          {"patternProperties",
           {{suffixed("flops", Dimension::Work), count()},
            {suffixed("bytes", Dimension::Size), count()}}}};
}

Json parameter_schema(const Parameter& parameter, OpKind kind) {
  Json schema = value_schema(parameter, kind);
  if (parameter.need == Parameter::Need::Optional)
    schema = or_null(std::move(schema));  // as JAX writes what is not given
  schema["description"] = parameter_summary(parameter.name);
  if (const std::string otherwise = parameter_default(parameter); !otherwise.empty())
    schema["default"] = Json::accept(otherwise) ? Json::parse(otherwise) : Json(otherwise);
  return schema;
}

/// Returns a condition: {"if": it is one of these ops, "then": it is as the definition says}.
Json op_case(const Json& names, std::string_view definition) {
  return {{"if", {{"required", {"op"}}, {"properties", {{"op", {{"enum", names}}}}}}},
          {"then", reference(definition)}};
}

/// Returns the schema of an object that is this op.
Json op_schema(const OpRules& op, const Json& definitions) {
  Json names = {op.name};
  if (op.family == Family::Collective)
    names.push_back(op_name(op.kind, Issue::Start));
  Json id = {{"type", "string"}, {"minLength", 1}};
  if (op.most_results > 1)
    id = {{"anyOf", {id, {{"type", "array"}, {"minItems", 1}, {"items", id}}}}};
  id["description"] = op.most_results > 1 ? "The name of its result, or a list with one for each."
                                          : "The name of its result.";
  Json properties = {{"id", std::move(id)}, {"op", {{"enum", names}, {"description", op.summary}}}};
  Json required = {"id", "op"};
  if (op.most_operands > 0) {
    properties["of"] = reference("names");
    properties["of"]["description"] = "The ids of its operands.";
    properties["donate"] = reference("names");
    properties["donate"]["description"] = "Those of its operands whose storage it may take.";
    if (op.least_operands > 0)
      required.push_back("of");
  }
  if (op.family == Family::Collective)
    properties["site"] = {
        {"type", "string"},
        {"description", "Collectives of different programs that meet carry the same."}};
  Json patterns = Json::object();
  for (const Parameter& parameter : op.parameters) {
    properties[std::string(parameter.name)] = parameter_schema(parameter, op.kind);
    const bool work = parameter.kind == ParameterKind::FlopCount;
    const bool size = parameter.kind == ParameterKind::ByteCount;
    if (work || size)  // its key may have a unit's suffix
      patterns[suffixed(parameter.name, work ? Dimension::Work : Dimension::Size)] = count();
    else if (parameter.need == Parameter::Need::Required)
      required.push_back(parameter.name);
    if (parameter.kind == ParameterKind::Functions) {
      properties.update(definitions["core_map"]["properties"]);
      required.push_back("out");
    }
  }
  Json schema = {{"required", std::move(required)},
                 {"additionalProperties", false},
                 {"properties", std::move(properties)}};
  if (!patterns.empty())
    schema["patternProperties"] = std::move(patterns);
  return schema;
}

void define_ops(Json& definitions) {
  Json names = Json::array({kLoopOp, kGroupOp, kToGroupsOp, kToMeshOp});
  Json cases = Json::array({op_case({kLoopOp}, "loop"), op_case({kGroupOp}, "group"),
                            op_case({kToGroupsOp}, "to_groups"), op_case({kToMeshOp}, "to_mesh")});
  for (const OpRules& op : all_rules()) {
    const std::string definition = fmt::format("op_{}", op.name);
    definitions[definition] = op_schema(op, definitions);
    const Json own = definitions[definition]["properties"]["op"]["enum"];
    names.insert(names.end(), own.begin(), own.end());
    cases.push_back(op_case(own, definition));
  }
  definitions.erase("core_map");  // its keys are those of op_mpmd_map
  definitions["op"] = {{"type", "object"},
                       {"required", {"id", "op"}},
                       {"properties", {{"op", {{"enum", std::move(names)}}}}},
                       {"allOf", std::move(cases)}};
}

/// Defines the ops in bodies of an mpmd_map. Ops with equal keys share a case.
void define_body_ops(Json& definitions) {
  const Json ref = reference("core_ref");
  const Json& own = definitions["core_op"]["properties"];
  std::vector<std::pair<Json, Json>> cases;  // the keys, and the ops that have them
  Json words = Json::array();
  const auto add = [&](std::string_view word, Json properties, Json required) {
    properties["op"] = Json::object();
    Json keys = {{"required", std::move(required)},
                 {"additionalProperties", false},
                 {"properties", std::move(properties)}};
    auto same = std::find_if(cases.begin(), cases.end(),
                             [&](const auto& each) { return each.first == keys; });
    if (same == cases.end())
      same = cases.emplace(cases.end(), std::move(keys), Json::array());
    same->second.push_back(word);
    words.push_back(word);
  };
  add("copy", {{"from", ref}, {"to", ref}}, Json::array({"from", "to"}));
  add("signal", {{"sem", ref}, {"by", own["by"]}}, Json::array({"sem"}));
  add("wait", {{"sem", ref}, {"for", own["for"]}}, Json::array({"sem"}));
  for (const OpRules& op : all_rules()) {
    if (!is_body_op(op.kind))
      continue;
    Json properties = {{"to", ref}};
    Json required = Json::array({"to"});
    if (op.most_operands > 0) {
      properties["of"] = own["of"];
      required.push_back("of");
    }
    for (const Parameter& parameter : op.parameters) {
      properties[std::string(parameter.name)] = parameter_schema(parameter, op.kind);
      if (parameter.need == Parameter::Need::Required)
        required.push_back(parameter.name);
    }
    add(op.name, std::move(properties), std::move(required));
  }
  Json all = Json::array();
  for (auto& [keys, names] : cases)
    all.push_back({{"if", {{"required", {"op"}}, {"properties", {{"op", {{"enum", names}}}}}}},
                   {"then", std::move(keys)}});
  Json& op = definitions["core_op"];
  op["properties"] = {{"op", {{"enum", std::move(words)}}}};
  op["allOf"] = std::move(all);
}

void define_dtypes(Json& schema) {
  Json names = Json::array();
  Json& rates = schema["$defs"]["cluster"]["properties"]["flops"]["properties"];
  for (const Dtype dtype : all_dtypes()) {
    names.push_back(name(dtype));
    rates[std::string(name(dtype))] = reference("work_rate_figure");
  }
  schema["$defs"]["dtype"]["anyOf"][0]["enum"] = std::move(names);
}

/// Matches keys and texts in which a hole begins.
constexpr const char* kHoleBegins = "\\$\\{";

/// Returns whether a value that the schema accepts may be a text.
bool accepts_text(const Json& schema, const Json& definitions) {
  const auto accepts = [&](const Json& part) { return accepts_text(part, definitions); };
  const auto is_text = [](const Json& value) { return value.is_string(); };
  if (schema.contains("$ref"))
    return accepts(definitions.at(
        schema["$ref"].get<std::string>().substr(std::string_view("#/$defs/").size())));
  for (const char* const key : {"anyOf", "oneOf", "allOf"})
    if (schema.contains(key))
      return std::any_of(schema[key].begin(), schema[key].end(), accepts);
  if (schema.contains("enum"))
    return std::any_of(schema["enum"].begin(), schema["enum"].end(), is_text);
  if (schema.contains("const"))
    return is_text(schema["const"]);
  if (!schema.contains("type"))
    return true;
  const Json& type = schema["type"];
  return type == "string" ||
         (type.is_array() && std::count(type.begin(), type.end(), "string") > 0);
}

/// Lets each value of an object or list be a hole, or a text with holes if a text may stand there.
/// Keys have no holes. The conditions of cases ("if") stay. `definitions` are those without holes.
void allow_holes(Json& schema, const Json& definitions) {
  if (!schema.is_structured())
    return;
  const auto allow = [&](Json& value) {
    if (!value.is_object())
      return;
    const char* const hole = accepts_text(value, definitions) ? "text_with_holes" : "hole";
    allow_holes(value, definitions);
    value = {{"anyOf", Json::array({std::move(value), reference(hole)})}};
  };
  if (schema.is_array()) {
    for (Json& each : schema)
      allow_holes(each, definitions);
    return;
  }
  for (const char* const key : {"properties", "patternProperties"})
    if (schema.contains(key))
      for (Json& value : schema[key])
        allow(value);
  for (const char* const key : {"additionalProperties", "items"})
    if (schema.contains(key))
      allow(schema[key]);
  if (schema.contains("additionalProperties") && schema["additionalProperties"].is_object())
    schema["patternProperties"][kHoleBegins] = false;
  if (schema.contains("$defs"))
    for (Json& definition : schema["$defs"])
      allow_holes(definition, definitions);
  for (const char* const key : {"anyOf", "allOf", "oneOf", "then", "else"})
    if (schema.contains(key))
      allow_holes(schema[key], definitions);
}

/// Returns the schema of an op whose kind is a hole: it may have the keys of any op.
Json op_of_any_kind(const Json& definitions) {
  Json properties = Json::object();
  Json patterns = Json::object();
  for (const auto& [name, definition] : definitions.items()) {
    if (!name.starts_with("op_") && name != "loop" && name != "group" && name != "to_groups" &&
        name != "to_mesh")
      continue;
    for (const auto& property : definition["properties"].items())
      properties[property.key()] = true;
    if (definition.contains("patternProperties"))
      for (const auto& pattern : definition["patternProperties"].items())
        patterns[pattern.key()] = true;
  }
  return {{"additionalProperties", false},
          {"properties", std::move(properties)},
          {"patternProperties", std::move(patterns)}};
}

/// Defines texts with holes, and what an op is whose kind is one of them.
void define_holes(Json& definitions, const Json& without_holes) {
  definitions["hole"] = {{"description", "A formula of the names."},
                         {"type", "string"},
                         {"pattern", "^\\$\\{[^}]+\\}$"}};
  definitions["text_with_holes"] = {{"description", "A text with formulas of the names."},
                                    {"type", "string"},
                                    {"pattern", "^(?=.*\\$\\{)([^$]|\\$(?!\\{)|\\$\\{[^}]+\\})*$"}};
  definitions["op_of_any_kind"] = op_of_any_kind(without_holes);
  definitions["op"]["allOf"].push_back(
      {{"if",
        {{"required", {"op"}},
         {"properties", {{"op", {{"not", without_holes["op"]["properties"]["op"]}}}}}}},
       {"then", reference("op_of_any_kind")}});
  definitions["without_holes"] = {{"not", {{"type", "string"}, {"pattern", kHoleBegins}}},
                                  {"items", reference("without_holes")},
                                  {"patternProperties", {{kHoleBegins, false}}},
                                  {"additionalProperties", reference("without_holes")}};
}

/// Returns the schema of a template: the scenario's, with holes allowed for values. `change`
/// changes the scenario's first.
Json with_holes(FunctionRef<void(Json&)> change) {
  Json schema = Json::parse(scenario_schema());
  const Json without_holes = schema["$defs"];
  change(schema);
  allow_holes(schema, without_holes);
  define_holes(schema["$defs"], without_holes);
  return schema;
}

/// Returns the schema of a name that formulas may use.
Json names_of_formulas() {
  return {{"pattern", "^[A-Za-z_][A-Za-z0-9_]*$"}, {"not", {{"enum", formula_words()}}}};
}

/// Defines what is drawn for the name of a law.
void define_draws(Json& definitions) {
  const auto number = [](Json integer, const char* description) {
    integer["type"] = "integer";
    return Json{
        {"anyOf", Json::array({std::move(integer), {{"type", "string"}, {"minLength", 1}}})},
        {"description", description}};
  };
  const Json bound = number(Json::object(), "A whole number, or a formula of earlier names.");
  const Json length = number({{"minimum", 0}, {"maximum", kMostDrawn}},
                             "A number of items, or a formula of earlier names.");
  const auto draw = [](Json properties) {
    Json required = Json::array();
    for (const auto& [key, value] : properties.items())
      required.push_back(key);
    return Json{{"type", "object"},
                {"required", std::move(required)},
                {"properties", std::move(properties)},
                {"additionalProperties", false}};
  };
  definitions["draw"]["anyOf"] = {
      draw({{"from", bound}, {"to", bound}}),
      draw({{"choose",
             {{"type", "array"}, {"minItems", 1}, {"items", reference("without_holes")}}}}),
      draw({{"list", reference("draw")}, {"length", length}}),
      draw({{"permutation", length}}),
      draw({{"some_of", length}}),
  };
}

}  // namespace

std::string scenario_schema() {
  Json schema = handwritten("scenario");
  Json& definitions = schema["$defs"];
  Json names = Json::array();
  for (const CatalogFile& entry : catalog())
    names.push_back(entry.name);
  definitions["catalog"] = {
      {"description", "A cluster of the catalog, or a slice of a TPU with its shape."},
      {"anyOf",
       {{{"enum", std::move(names)}},
        {{"type", "string"},
         {"pattern", "^tpu-[a-z0-9]+ [0-9]+(x[0-9]+)*$"},
         {"examples", Json::array({"tpu-v5p 4x4x8"})}}}}};
  const Json pair = {{"type", "array"},
                     {"minItems", 2},
                     {"maxItems", 2},
                     {"items", list_of({{"type", "integer"}})}};
  definitions["dimension_numbers"] = {
      {"type", "array"},
      {"minItems", 2},
      {"maxItems", 2},
      {"items", pair},
      {"examples", Json::array({Json::parse("[[[1], [0]], [[], []]]")})}};
  define_dtypes(schema);
  define_ops(definitions);
  define_body_ops(definitions);
  define_quantities(definitions);
  add_suffixed_keys(schema);
  return schema.dump(2) + "\n";
}

std::string law_schema() {
  Json schema =
      with_holes([](Json& scenario) { scenario["properties"]["expect"]["minItems"] = 1; });
  schema["title"] = "Orrery law";
  schema["description"] =
      "A scenario with holes, \"${n}\", whose expectations must hold for all values drawn.";
  schema["required"] = {"orrery", "mesh", "forall", "expect"};
  schema["properties"]["forall"] = {
      {"type", "object"},
      {"description", "The names that formulas use, each with what is drawn for it."},
      {"propertyNames", names_of_formulas()},
      {"additionalProperties", reference("draw")},
      {"examples", Json::array({{{"n", {{"from", 1}, {"to", 8}}}}})}};
  schema["properties"]["where"] = {
      {"type", "string"},
      {"minLength", 1},
      {"description", "A formula. Values for which it is false are drawn again."},
      {"examples", {"n % 2 == 0"}}};
  define_draws(schema["$defs"]);
  return schema.dump(2) + "\n";
}

std::string plan_schema() {
  Json schema = with_holes([](Json&) {});
  schema["title"] = "Orrery plan";
  schema["description"] =
      "A scenario with holes, \"${n}\", which `orrery plan` times for all values of a sweep.";
  schema["required"] = {"orrery", "mesh", "cluster", "sweep"};
  const Json own = handwritten("plan");
  for (const auto& [key, value] : own["properties"].items())
    schema["properties"][key] = value;
  for (const auto& [key, value] : own["$defs"].items())
    schema["$defs"][key] = value;
  schema["properties"]["sweep"]["propertyNames"] = names_of_formulas();
  schema["properties"]["where"]["type"] = "string";
  schema["properties"]["where"]["minLength"] = 1;
  return schema.dump(2) + "\n";
}

std::string plan_report_schema() {
  return handwritten("plan-report").dump(2) + "\n";
}

std::string report_schema() {
  return handwritten("report").dump(2) + "\n";
}

}  // namespace orrery
