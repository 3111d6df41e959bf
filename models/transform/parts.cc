#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "models/base/check.h"
#include "models/program/builder.h"
#include "models/transform/gradients.h"
#include "models/transform/program_copy.h"

namespace orrery {

namespace {

class Cutting {
 public:
  Cutting(const Program& program, Checks checks, std::set<OpId> first)
      : program_(program), checks_(checks), first_(std::move(first)) {
    for (size_t i = 0; i < program.ops.size(); ++i)
      for (const ValueId result : program.ops[i].results)
        makers_.emplace(result, i);
    complete();
    for (size_t i = 0; i < program.ops.size(); ++i)
      for (const ValueId operand : program.ops[i].operands)
        if (!in_first(OpId(i)) && is_made_in_first(operand))
          handed_over_.insert(operand);
  }

  ProgramParts run() const { return {part(true), part(false)}; }

 private:
  bool in_first(OpId op) const { return first_.contains(op); }

  bool is_made_in_first(ValueId value) const {
    const auto maker = makers_.find(value);
    return maker != makers_.end() && in_first(maker->second);
  }

  /// Adds the ops that the first part needs, and the ops that take a future or a token of it.
  void complete() {
    for (bool grew = true; grew;) {
      grew = false;
      for (size_t i = program_.ops.size(); i-- > 0;)
        for (const ValueId operand : program_.ops[i].operands)
          if (const auto maker = makers_.find(operand); in_first(OpId(i)) && maker != makers_.end())
            grew = first_.insert(maker->second).second || grew;
      for (size_t i = 0; i < program_.ops.size(); ++i)
        for (const ValueId operand : program_.ops[i].operands)
          if (const ValueType& type = program_.value(operand).type;
              (type.future || type.token) && is_made_in_first(operand))
            grew = first_.emplace(i).second || grew;
    }
  }

  Program part(bool first) const {
    std::set<ValueId> read;
    for (size_t i = 0; i < program_.ops.size(); ++i)
      if (in_first(OpId(i)) == first)
        read.insert(program_.ops[i].operands.begin(), program_.ops[i].operands.end());
    std::set<ValueId> has;  // values that the part has a name for
    Diagnostics diagnostics("");
    ProgramBuilder builder(program_.mesh, checks_, diagnostics);
    for (const Argument& argument : program_.arguments) {
      const Value& value = program_.value(argument.value);
      const bool output = first && is_output(argument.value);
      if (!read.contains(argument.value) && !output)
        continue;
      builder.argument(value.name, value.type, std::nullopt, argument.on);
      has.insert(argument.value);
    }
    for (const ValueId id : handed_over_)
      if (!first) {
        builder.argument(program_.value(id).name, program_.value(id).type);
        has.insert(id);
      }
    builder.thread(program_.threads[0].name, program_.threads[0].devices);
    std::vector<Added> added;
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      const ProgramBuilder::Size begin = builder.size();
      if (in_first(OpId(i)) == first) {
        builder.op(request_of(program_, program_.ops[i]));
        has.insert(program_.ops[i].results.begin(), program_.ops[i].results.end());
      }
      added.push_back({begin, builder.size()});
    }
    copy_written_loops(program_, added, builder);
    for (const auto& [name, value] : program_.other_names)
      if (has.contains(value))
        builder.name_also(program_.value(value).name, name, std::nullopt);
    for (const ValueId output : program_.outputs)
      if (first ? !makers_.contains(output) || is_made_in_first(output)
                : makers_.contains(output) && !is_made_in_first(output))
        builder.output(program_.value(output).name);
    for (const ValueId id : handed_over_)
      if (first && !is_output(id))
        builder.output(program_.value(id).name);
    Program made = builder.finish();
    made.numerics = program_.numerics;
    ORRERY_CHECK(diagnostics.empty(), "a part of a valid program is one");
    return made;
  }

  bool is_output(ValueId value) const {
    return std::find(program_.outputs.begin(), program_.outputs.end(), value) !=
           program_.outputs.end();
  }

  const Program& program_;
  const Checks checks_;
  std::set<OpId> first_;
  std::map<ValueId, OpId> makers_;
  std::set<ValueId> handed_over_;
};

ValueId named(const Program& program, const std::string& name) {
  const std::map<std::string_view, ValueId> values = values_by_name(program);
  const auto found = values.find(name);
  ORRERY_CHECK(found != values.end(), "a part is made of what the program has");
  return found->second;
}

}  // namespace

ProgramParts cut(const Program& program, Checks checks, std::set<OpId> first) {
  return Cutting(program, checks, std::move(first)).run();
}

std::optional<ProgramParts> vjp_parts(const Program& program, Checks checks,
                                      const VjpRequest& request, Diagnostics& diagnostics) {
  const std::optional<Program> straight = straightened(
      program, request.most_ops, "the parts of a pipeline need them", request.origin, diagnostics);
  if (!straight)
    return std::nullopt;
  Program whole = vjp(*straight, checks, request, diagnostics);
  if (!diagnostics.empty())
    return std::nullopt;
  whole.outputs.clear();
  for (const NamedAt& of : request.of)
    whole.outputs.push_back(named(whole, of.name));
  for (const NamedAt& argument : request.with_respect_to)
    whole.outputs.push_back(named(whole, "ct_" + argument.name));
  // The ops of the forward pass come first.
  std::set<OpId> forward;
  for (size_t i = 0; i < straight->ops.size(); ++i)
    forward.emplace(i);
  return cut(whole, checks, std::move(forward));
}

ProgramParts backward_parts(const Program& backward, Checks checks,
                            const std::vector<std::string>& inputs) {
  std::set<OpId> first;
  for (const std::string& input : inputs) {
    const ValueId value = named(backward, input);
    ORRERY_CHECK(std::find(backward.outputs.begin(), backward.outputs.end(), value) !=
                     backward.outputs.end(),
                 "the cotangents of inputs are outputs of a backward program");
    for (size_t i = 0; i < backward.ops.size(); ++i)
      for (const ValueId result : backward.ops[i].results)
        if (result == value)
          first.emplace(i);
  }
  return cut(backward, checks, std::move(first));
}

}  // namespace orrery
