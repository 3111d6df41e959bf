#include "models/transform/program_copy.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/base/compiler.h"
#include "models/program/iteration_name.h"
#include "models/program/loops.h"
#include "models/program/rules.h"
#include "models/program/sides.h"
#include "models/program/unroll.h"

namespace orrery {

OpRequest request_of(const Program& program, const Op& op) {
  OpRequest request;
  request.name = op.name;
  request.kind = op.kind;
  request.issue = op.issue;
  request.attributes = written_attributes(op);
  for (const ValueId operand : op.operands)
    request.operands.push_back(program.value(operand).name);
  for (const ValueId donated : op.donated)
    request.donated.push_back(program.value(donated).name);
  for (size_t r = 1; r < op.results.size(); ++r)
    request.other_results.push_back(program.value(op.results[r]).name);
  request.origin = op.origin;
  request.pass = op.pass;
  if (op.forward)
    request.forward = program.op(*op.forward).name;
  return request;
}

void copy_arguments(const Program& program, ProgramBuilder& builder) {
  for (const Argument& argument : program.arguments) {
    const Value& value = program.value(argument.value);
    builder.argument(value.name, value.type, std::nullopt, argument.on);
  }
}

namespace {

std::vector<ValueId> values_called(const std::vector<std::string>& names,
                                   const std::optional<Origin>& origin, ProgramBuilder& builder) {
  std::vector<ValueId> values;
  for (const std::string& name : names) {
    const std::optional<ValueId> value = builder.value_of(name, origin_of(name, origin));
    ORRERY_CHECK(value.has_value(), "what a loop reads was added before");
    values.push_back(*value);
  }
  return values;
}

void begin_loop(LoopBegin loop, ProgramBuilder& builder) {
  std::vector<std::string> initial;
  for (const LoopBegin::Carried& carried : loop.carries)
    initial.push_back(carried.initial);
  const std::vector<ValueId> values = values_called(initial, loop.origin, builder);
  builder.begin_loop(loop.name, loop.lower, loop.upper, loop.origin);
  for (size_t c = 0; c < values.size(); ++c) {
    const std::string& param = loop.carries[c].param;
    builder.carry(param, values[c], origin_of(param, loop.origin));
  }
  if (!loop.index)
    return;
  builder.op(std::move(*loop.index));
  builder.last_op_is_index();
}

}  // namespace

void add_part(ProgramPart part, ProgramBuilder& builder) {
  std::visit(Overloaded{[&](OpRequest& op) { builder.op(std::move(op)); },
                        [&](LoopBegin& loop) { begin_loop(std::move(loop), builder); },
                        [&](LoopEnd& loop) {
                          builder.end_loop(values_called(loop.yielded, std::nullopt, builder),
                                           loop.results);
                        }},
             part);
}

bool can_start_early(const OpRequest& op) {
  const OpRules& rules = orrery::rules(op.kind);
  return rules.family == Family::Collective && rules.form.side == Side::Both &&
         op.issue == Issue::Sync && !over_no_axes(op.attributes);
}

LoopParts take_loop(std::vector<ProgramPart>& parts, size_t begin) {
  LoopParts loop;
  loop.begin = std::get<LoopBegin>(std::move(parts[begin]));
  size_t depth = 1;  // of the loops around the part
  for (size_t i = begin + 1;; ++i) {
    if (std::holds_alternative<LoopBegin>(parts[i]))
      ++depth;
    else if (std::holds_alternative<LoopEnd>(parts[i]) && --depth == 0) {
      loop.end = std::get<LoopEnd>(std::move(parts[i]));
      return loop;
    }
    loop.parts.push_back(std::move(parts[i]));
  }
}

void append(LoopParts loop, std::vector<ProgramPart>& parts) {
  parts.emplace_back(std::move(loop.begin));
  std::move(loop.parts.begin(), loop.parts.end(), std::back_inserter(parts));
  parts.emplace_back(std::move(loop.end));
}

void rename(LoopParts& loop, const std::string& name) {
  const std::string from = any_iteration(loop.begin.name);
  const std::string to = any_iteration(name);
  const auto move = [&](std::string& each) {
    if (each.starts_with(from))
      each.replace(0, from.size(), to);
  };
  ProgramPart begin = std::move(loop.begin);
  ProgramPart end = std::move(loop.end);
  for_each_name(begin, move);
  for (ProgramPart& part : loop.parts)
    for_each_name(part, move);
  for_each_name(end, move);
  loop.begin = std::get<LoopBegin>(std::move(begin));
  loop.end = std::get<LoopEnd>(std::move(end));
  loop.begin.name = name;
  for (size_t c = 0; c < loop.end.results.size(); ++c)
    loop.end.results[c] = outside(loop, loop.begin.carries[c].param);
}

std::string take_carry(UnusedNames& names, const std::string& loop, const std::string& own) {
  const std::string iteration = any_iteration(loop);
  return names.take_with(name_in(iteration, own), [&](const std::string& param) {
    return name_in(loop, own_name(iteration, param));
  });
}

std::string outside(const LoopParts& loop, const std::string& name) {
  return name_in(loop.begin.name, own_name(any_iteration(loop.begin.name), name));
}

void for_each_read(const ProgramPart& part, FunctionRef<void(const std::string&)> visit) {
  std::visit(Overloaded{[&](const OpRequest& op) {
                          std::for_each(op.operands.begin(), op.operands.end(), visit);
                        },
                        [&](const LoopBegin& loop) {
                          for (const LoopBegin::Carried& carried : loop.carries)
                            visit(carried.initial);
                        },
                        [&](const LoopEnd& loop) {
                          std::for_each(loop.yielded.begin(), loop.yielded.end(), visit);
                        }},
             part);
}

void for_each_name(ProgramPart& part, FunctionRef<void(std::string&)> visit) {
  const auto visit_all = [&](std::vector<std::string>& names) {
    std::for_each(names.begin(), names.end(), visit);
  };
  const auto visit_op = [&](OpRequest& op) {
    visit(op.name);
    visit_all(op.other_results);
    visit_all(op.operands);
    visit_all(op.donated);
  };
  std::visit(Overloaded{visit_op,
                        [&](LoopBegin& loop) {
                          visit(loop.name);
                          for (LoopBegin::Carried& carried : loop.carries) {
                            visit(carried.param);
                            visit(carried.initial);
                          }
                          if (loop.index)
                            visit_op(*loop.index);
                        },
                        [&](LoopEnd& loop) {
                          visit_all(loop.yielded);
                          visit_all(loop.results);
                        }},
             part);
}

std::string add_zeros(const Mesh& mesh, Checks checks, const ValueType& type, AddOp add) {
  Attributes attributes;
  attributes.set("shape", std::vector<int64_t>(type.shape.dims().begin(), type.shape.dims().end()));
  attributes.set("fill_value", 0.0);
  attributes.set("dtype", type.dtype);
  std::string value = add(OpKind::Full, {}, std::move(attributes));
  if (checks == Checks::Shapes)
    return value;
  const auto cast = [&](OpKind kind, std::initializer_list<AxisState> states) {
    std::vector<std::string> names;
    for (size_t axis = 0; axis < type.axes.size(); ++axis)
      if (std::find(states.begin(), states.end(), type.axes[axis]) != states.end())
        names.push_back(mesh.axes()[axis].name);
    if (names.empty())
      return;
    Attributes axes;
    axes.set("axis_name", std::move(names));
    value = add(kind, {value}, std::move(axes));
  };
  cast(OpKind::Preduced, {AxisState::Reduced});
  cast(OpKind::Pvary, {AxisState::Varying, AxisState::Unreduced});
  cast(OpKind::VaryUnreducedCast, {AxisState::Unreduced});
  return value;
}

std::string add_large_zeros(const Mesh& mesh, Checks checks, const ValueType& type, AddOp add) {
  ValueType scalar = type;
  scalar.shape = Shape();
  std::string value = add_zeros(mesh, checks, scalar, add);
  Attributes shape;
  shape.set("shape", std::vector<int64_t>(type.shape.dims().begin(), type.shape.dims().end()));
  shape.set("broadcast_dimensions", std::vector<int64_t>());
  return add(OpKind::BroadcastInDim, {std::move(value)}, std::move(shape));
}

void copy_loop_begin(const Program& program, const Loop& loop,
                     const std::vector<std::string>& initial, ProgramBuilder& builder) {
  LoopBegin begin{loop.name, loop.lower, loop.upper, loop.origin};
  for (size_t c = 0; c < initial.size(); ++c)
    begin.carries.push_back({program.value(loop.carries[c].param).name, initial[c]});
  add_part(std::move(begin), builder);
}

void copy_loop_end(const Program& program, const Loop& loop,
                   const std::vector<std::string>& yielded, ProgramBuilder& builder) {
  LoopEnd end{yielded, {}};
  for (const Carry& carry : loop.carries)
    end.results.push_back(program.value(carry.result).name);
  add_part(std::move(end), builder);
}

std::map<std::string_view, ValueId> exit_names(const Program& program) {
  std::set<ValueId> exits;
  for (const Loop& loop : program.loops)
    for (const Exit& exit : loop.exits)
      if (!loop.around)
        exits.insert(exit.outside);
  std::map<std::string_view, ValueId> names;
  for (const ValueId exit : exits)
    names.emplace(program.value(exit).name, exit);
  for (const auto& [name, value] : program.other_names)
    if (exits.contains(value))
      names.emplace(name, value);
  return names;
}

void copy_program(const Program& program, ProgramBuilder& builder) {
  copy_arguments(program, builder);
  const auto named = [&](const Loop& loop, ValueId Carry::*which) {
    std::vector<std::string> names;
    for (const Carry& carry : loop.carries)
      names.push_back(program.value(carry.*which).name);
    return names;
  };
  std::vector<size_t> open;
  for (size_t t = 0; t < program.threads.size(); ++t) {
    builder.thread(program.threads[t].name, program.threads[t].devices);
    for_each_part(program, ThreadId(t),
                  {[&](OpId op) {
                     builder.op(request_of(program, program.op(op)));
                     if (!open.empty() && program.loops[open.back()].index == op)
                       builder.last_op_is_index();
                     return true;
                   },
                   [&](size_t l) {
                     const Loop& loop = program.loops[l];
                     copy_loop_begin(program, loop, named(loop, &Carry::initial), builder);
                     open.push_back(l);
                     return true;
                   },
                   [&](size_t l) {
                     const Loop& loop = program.loops[l];
                     copy_loop_end(program, loop, named(loop, &Carry::yielded), builder);
                     open.pop_back();
                     return true;
                   }});
  }
  // Without regions, ops, values and buffers have the same ids as in the program.
  for (const WrittenLoop& loop : program.written_loops)
    builder.loop(loop);
  for (const std::string& loop : program.empty_loops)
    builder.empty_loop(loop);
  copy_names(program, builder);
}

void copy_names(const Program& program, ProgramBuilder& builder) {
  const std::map<std::string_view, ValueId> exits = exit_names(program);
  for (const auto& [name, value] : exits)
    builder.name_exit(name);
  for (const auto& [name, value] : program.other_names)
    if (!exits.contains(name))
      builder.name_also(program.value(value).name, name, std::nullopt);
}

bool is_one_program(const Program& program, const Origin& origin, Diagnostics& diagnostics) {
  if (!program.reshards.empty()) {
    const Reshard& reshard = program.reshards.front();
    diagnostics.add(
        reshard.origin.value_or(origin),
        fmt::format("\"{}\": expected no reshard to or from groups in a program that is "
                    "transformed",
                    reshard.name()));
    return false;
  }
  if (program.threads.size() == 1 && program.threads[0].devices.size() == program.mesh.devices()) {
    const auto refused = std::ranges::find_if(program.ops, [&](const Op& op) {
      return !op.group.empty() || (op.site && receives_by_site(program, op));
    });
    if (refused != program.ops.end())
      diagnostics.add(
          refused->origin.value_or(origin),
          refused->group.empty()
              ? fmt::format("{}: expected a token of its psend in \"of\", as transforms follow "
                            "tokens, got a \"site\"",
                            op_title(*refused))
              : fmt::format("{}: expected no group in a program that is transformed",
                            op_title(*refused)));
    return refused == program.ops.end();
  }
  diagnostics.add(origin,
                  fmt::format("expected one program on all devices, got {}",
                              program.threads.size() == 1
                                  ? fmt::format("one on {}", program.threads[0].devices.size())
                                  : fmt::format("{} programs", program.threads.size())));
  return false;
}

std::optional<Program> straightened(const Program& program, int64_t most_ops, std::string_view why,
                                    const Origin& origin, Diagnostics& diagnostics) {
  if (!is_one_program(program, origin, diagnostics))
    return std::nullopt;
  Int128 ops = 0;
  for (const uint64_t times : repetitions(program))
    ops += times;
  if (ops > most_ops) {
    diagnostics.add(origin,
                    fmt::format("expected at most {} ops with all iterations of loops written out, "
                                "as {} (--limit ops=N allows more), got {}",
                                most_ops, why, static_cast<uint64_t>(ops)));
    return std::nullopt;
  }
  Program straight =
      program.loops.empty() ? program : unrolled(program, LongLoops::WrittenOut).program;
  for (WrittenLoop& loop : straight.written_loops)
    for (LoopIteration& iteration : loop.written)
      iteration.is_shown = true;
  return straight;
}

void copy_written_loops(const Program& program, const std::vector<Added>& added,
                        ProgramBuilder& builder) {
  for (WrittenLoop loop : program.written_loops) {
    uint32_t ops = 0;
    for (LoopIteration& iteration : loop.written) {
      const ProgramBuilder::Size& begin = added[iteration.ops.begin].begin;
      const ProgramBuilder::Size& end = added[iteration.ops.end - 1].end;
      iteration.ops = {begin.ops, end.ops};
      iteration.values = {begin.values, end.values};
      iteration.buffers = {begin.buffers, end.buffers};
      ops += iteration.ops.size();
    }
    if (ops > 0)
      builder.loop(std::move(loop));
  }
  for (const std::string& loop : program.empty_loops)
    builder.empty_loop(loop);
}

}  // namespace orrery
