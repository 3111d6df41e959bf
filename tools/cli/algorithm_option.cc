#include "tools/cli/algorithm_option.h"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/program/did_you_mean.h"
#include "models/program/rules.h"
#include "simulator/algorithm/algorithms.h"
#include "tools/cli/inputs.h"

namespace orrery {
namespace {

constexpr const char* kAlgorithm = "--algorithm";

void require_one_of(const std::vector<std::string_view>& names, std::string_view name,
                    std::string_view after) {
  if (std::find(names.begin(), names.end(), name) == names.end())
    refuse(kAlgorithm, fmt::format("expected one of {}{}, got \"{}\"{}", fmt::join(names, ", "),
                                   after, name, did_you_mean(name, names)));
}

OpKind collective_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const OpRules& op : all_rules())
    if (takes_algorithm(op))
      names.push_back(op.name);
  require_one_of(names, name, "");
  const auto named = [&](const OpRules& op) { return op.name == name; };
  return std::find_if(all_rules().begin(), all_rules().end(), named)->kind;
}

}  // namespace

std::map<std::string, std::string> set_algorithms(Program& program,
                                                  const std::vector<std::string>& settings) {
  std::map<OpKind, std::string> chosen;
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    const std::string_view op = std::string_view(setting).substr(0, equals);
    const OpKind kind = collective_named(op);
    if (equals == std::string::npos)
      refuse(kAlgorithm, fmt::format("expected {0}=ALGORITHM, got \"{0}\"", op));
    const std::string algorithm = setting.substr(equals + 1);
    std::vector<std::string_view> names;
    for (const Algorithm* each : algorithms_for(kind))
      names.push_back(each->name);
    require_one_of(names, algorithm, fmt::format(" for {}", op));
    if (!chosen.emplace(kind, algorithm).second)
      refuse(kAlgorithm, fmt::format("{} is given twice", op));
  }
  std::map<std::string, std::string> unused;
  for (const auto& [kind, algorithm] : chosen) {
    bool any = false;
    bool sets = false;
    for (Op& op : program.ops) {
      if (op.kind != kind || !op.site)
        continue;
      any = true;
      if (op.hints.algorithm)
        continue;
      op.hints.algorithm = algorithm;
      sets = true;
    }
    const std::string name(rules(kind).name);
    if (!sets)
      unused[name] = any ? fmt::format("expected a {} that names no algorithm, got none", name)
                         : fmt::format("expected a {} in the program, got none", name);
  }
  return unused;
}

void refuse_unused(const std::map<std::string, std::string>& unused) {
  if (!unused.empty())
    refuse(kAlgorithm, unused.begin()->second);
}

}  // namespace orrery
