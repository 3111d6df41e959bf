#include "models/transform/program_copy.h"

#include <utility>

#include <fmt/format.h>

#include "models/base/compiler.h"
#include "models/program/loops.h"

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
  request.backward = op.backward;
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

void copy_program(const Program& program, ProgramBuilder& builder) {
  copy_arguments(program, builder);
  for (const Thread& thread : program.threads) {
    builder.thread(thread.name, thread.devices);
    for (const OpId op : thread.issue_order)
      builder.op(request_of(program, program.op(op)));
  }
  // Ops, values and buffers have the same ids as in the program.
  for (const WrittenLoop& loop : program.written_loops)
    builder.loop(loop);
  for (const std::string& loop : program.empty_loops)
    builder.empty_loop(loop);
  for (const auto& [name, value] : program.other_names)
    builder.name_also(program.value(value).name, name, std::nullopt);
}

bool is_one_program(const Program& program, const Origin& origin, Diagnostics& diagnostics) {
  if (program.threads.size() == 1 && program.threads[0].devices.size() == program.mesh.devices())
    return true;
  diagnostics.add(origin,
                  fmt::format("expected one program on all devices, got {}",
                              program.threads.size() == 1
                                  ? fmt::format("one on {}", program.threads[0].devices.size())
                                  : fmt::format("{} programs", program.threads.size())));
  return false;
}

std::optional<Program> straightened(const Program& program, int64_t most_ops, const Origin& origin,
                                    Diagnostics& diagnostics) {
  if (!is_one_program(program, origin, diagnostics))
    return std::nullopt;
  Int128 ops = 0;
  for (const uint64_t times : repetitions(program))
    ops += times;
  if (ops > most_ops) {
    diagnostics.add(origin,
                    fmt::format("expected at most {} ops with all iterations of loops written out, "
                                "as a backward pass needs them (--limit ops=N allows more), got {}",
                                most_ops, static_cast<uint64_t>(ops)));
    return std::nullopt;
  }
  Program straight = leaves_out_iterations(program) ? written_out(program).program : program;
  for (WrittenLoop& loop : straight.written_loops) {
    loop.first = 0;
    loop.window = 0;
  }
  return straight;
}

void copy_loops(const Program& program, const std::vector<ProgramBuilder::Size>& begins,
                ProgramBuilder& builder) {
  for (WrittenLoop loop : program.written_loops) {
    uint32_t ops = 0;
    for (LoopIteration& iteration : loop.written) {
      const ProgramBuilder::Size& begin = begins[iteration.ops.begin];
      const ProgramBuilder::Size& end = begins[iteration.ops.end];
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
