// This is the part of builder.h that checks an op's parameters, each by itself.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/diagnostics.h"
#include "models/program/builder.h"
#include "models/program/groups.h"

namespace orrery {

namespace {

/// Returns the numbers of a parameter that may have limits.
std::vector<int64_t> limited_numbers(const Attributes& attributes, const Parameter& parameter) {
  switch (parameter.kind) {
    case ParameterKind::Integer:
      return {attributes.integer(parameter.name)};
    case ParameterKind::Integers:
      return attributes.integers(parameter.name);
    case ParameterKind::FlopCount:
      return {attributes.flops(parameter.name).count()};
    case ParameterKind::ByteCount:
      return {attributes.bytes(parameter.name).count()};
    case ParameterKind::WorkCount:
      return {attributes.work(parameter.name).flops.count(),
              attributes.work(parameter.name).bytes.count()};
    default:
      return {};
  }
}

}  // namespace

bool ProgramBuilder::check_parameter(const OpRequest& request, const Parameter& parameter) {
  const std::string_view name = parameter.name;
  if (!request.attributes.has(name)) {
    if (parameter.need == Parameter::Need::Required)
      add_error(
          request, "",
          fmt::format("expected the parameter \"{}\", {}", name, description(parameter.kind)));
    return parameter.need == Parameter::Need::Optional;
  }
  if (!holds(request.attributes.all().find(name)->second, parameter.kind)) {
    add_error(request, name, fmt::format("expected {}", description(parameter.kind)));
    return false;
  }
  for (const int64_t number : limited_numbers(request.attributes, parameter)) {
    const bool low = parameter.least && number < *parameter.least;
    const bool high = parameter.most && number > *parameter.most;
    if (low || high) {
      add_error(request, name,
                fmt::format("expected at {} {}, got {}", low ? "least" : "most",
                            low ? *parameter.least : *parameter.most, number));
      return false;
    }
  }
  if (!parameter.choices.empty()) {
    const std::string& text = request.attributes.text(name);
    if (std::find(parameter.choices.begin(), parameter.choices.end(), text) ==
        parameter.choices.end()) {
      add_error(request, name,
                fmt::format("expected one of {}, got \"{}\"{}", fmt::join(parameter.choices, ", "),
                            text, did_you_mean(text, parameter.choices)));
      return false;
    }
  }
  if (parameter.kind == ParameterKind::Names) {
    if (const auto wrong = axes_error(program_.mesh, request.attributes.names(name))) {
      add_error(request, name, *wrong);
      return false;
    }
  }
  return true;
}

/// Checks every parameter by itself, and fills in missing ones. Returns false if one is wrong.
bool ProgramBuilder::check_parameters(OpRequest& request, const OpRules& rules) {
  bool right = true;
  std::vector<std::string_view> names;
  for (const Parameter& parameter : rules.parameters)
    names.push_back(parameter.name);
  for (const auto& [name, value] : request.attributes.all()) {
    if (std::find(names.begin(), names.end(), name) != names.end())
      continue;
    add_error(request, name,
              names.empty() ? fmt::format("expected no parameters, got \"{}\"", name)
                            : fmt::format("expected one of its parameters ({}), got \"{}\"{}",
                                          fmt::join(names, ", "), name, did_you_mean(name, names)));
    right = false;
  }
  for (const Parameter& parameter : rules.parameters) {
    right = check_parameter(request, parameter) && right;
    if (parameter.otherwise && !request.attributes.has(parameter.name))
      request.attributes.set(std::string(parameter.name), *parameter.otherwise);
  }
  return right;
}

}  // namespace orrery
