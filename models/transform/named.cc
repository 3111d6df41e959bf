#include "models/transform/named.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "models/base/diagnostics.h"

namespace orrery {

namespace {

bool has_cotangent(Dtype dtype, Differentiated what) {
  return what == Differentiated::Inexact ? is_inexact(dtype) : dtype != Dtype::Pred;
}

using ByName = std::map<std::string_view, ValueId>;

std::vector<ValueId> found(const Program& program, const ByName& values, std::string_view kind,
                           const std::vector<NamedAt>& names, Differentiated what,
                           Diagnostics& diagnostics) {
  std::vector<std::string_view> known;
  for (const auto& [name, value] : values)
    known.push_back(name);
  std::vector<ValueId> ids;
  for (const NamedAt& each : names) {
    const auto value = values.find(each.name);
    if (value == values.end()) {
      diagnostics.add(each.origin, fmt::format("expected {}, got \"{}\"{}", kind, each.name,
                                               did_you_mean(each.name, known)));
      continue;
    }
    const ValueType& type = program.value(value->second).type;
    if (type.future || !has_cotangent(type.dtype, what))
      diagnostics.add(
          each.origin,
          fmt::format("expected {} of {}, got \"{}\", {}", kind,
                      what == Differentiated::Inexact ? "floats or complex numbers" : "numbers",
                      each.name, text(type, program.mesh)));
    ids.push_back(value->second);
  }
  return ids;
}

}  // namespace

UnusedNames::UnusedNames(const Program& program) {
  for (const Op& op : program.ops)
    names_.insert(op.name);
  for (const auto& [name, value] : values_by_name(program))
    names_.emplace(name);
}

std::string UnusedNames::take(const std::string& name) {
  std::string free = name;
  for (size_t& count = tried_[name]; !names_.insert(free).second;)
    free = fmt::format("{}.{}", name, ++count);
  return free;
}

std::string UnusedNames::take_with(const std::string& name,
                                   FunctionRef<std::string(const std::string&)> also) {
  std::string free = take(name);
  while (!names_.insert(also(free)).second)
    free = take(name);
  return free;
}

std::string UnusedNames::take_prefix(const std::string& name) {
  const auto begins_one = [&](const std::string& free, char after) {
    const auto found = names_.lower_bound(free + after);
    return found != names_.end() && found->starts_with(free + after);
  };
  std::string free = take(name);
  while (begins_one(free, '.') || begins_one(free, '['))
    free = take(name);
  return free;
}

std::vector<ValueId> named_results(const Program& program, const std::vector<NamedAt>& names,
                                   Differentiated what, Diagnostics& diagnostics) {
  ByName results = values_by_name(program);
  for (const Argument& argument : program.arguments)
    results.erase(program.value(argument.value).name);
  return found(program, results, "the result of an op", names, what, diagnostics);
}

std::vector<ValueId> named_arguments(const Program& program, const std::vector<NamedAt>& names,
                                     Differentiated what, Diagnostics& diagnostics) {
  ByName arguments;
  for (const Argument& argument : program.arguments)
    arguments.emplace(program.value(argument.value).name, argument.value);
  return found(program, arguments, "the name of an array", names, what, diagnostics);
}

std::string cotangent_name(const NamedAt& of) {
  return "ct_" + of.name;
}

void check_cotangents_unused(const Program& program, const std::vector<NamedAt>& names,
                             Diagnostics& diagnostics) {
  const ByName values = values_by_name(program);
  for (const NamedAt& each : names)
    if (values.contains(cotangent_name(each)))
      diagnostics.add(each.origin,
                      fmt::format("expected \"{}\" to be unused, for the cotangent of \"{}\", got "
                                  "it from an op or an earlier transform; one transform may have "
                                  "several values in \"of\" and in \"with_respect_to\"",
                                  cotangent_name(each), each.name));
}

std::vector<bool> dependents(const Program& program, const std::vector<ValueId>& values,
                             Differentiated what) {
  std::vector<bool> depends(program.values.size(), false);
  for (const ValueId value : values)
    depends[value.index()] = true;
  bool grew = true;
  const auto depend = [&](ValueId value, bool does) {
    if (!does || depends[value.index()])
      return;
    depends[value.index()] = true;
    grew = true;
  };
  while (grew) {
    grew = false;
    for (const Op& op : program.ops)
      if (std::any_of(op.operands.begin(), op.operands.end(),
                      [&](ValueId operand) { return depends[operand.index()]; }))
        for (const ValueId result : op.results) {
          const ValueType& type = program.value(result).type;
          // The cotangent of a token leads to the value that its psend sent.
          depend(result, type.token || has_cotangent(type.dtype, what));
        }
    for (const Loop& loop : program.loops) {
      for (const Carry& carry : loop.carries) {
        const bool does = depends[carry.initial.index()] || depends[carry.yielded.index()];
        depend(carry.param, does);
        depend(carry.result, does);
      }
      for (const Exit& exit : loop.exits)
        depend(exit.outside, depends[exit.inside.index()]);
    }
  }
  return depends;
}

}  // namespace orrery
