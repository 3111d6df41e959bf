#include "models/program/op_rules.h"

#include <algorithm>
#include <vector>

#include "models/base/check.h"

namespace orrery {

namespace {

std::vector<ValueType> types(const Program& program, std::span<const ValueId> values) {
  std::vector<ValueType> types;
  for (const ValueId value : values)
    types.push_back(program.value(value).type);
  return types;
}

bool updates_in_place(OpKind kind, std::span<const ValueId> operands,
                      std::span<const ValueId> donated) {
  return rules(kind).updates_donated &&
         std::find(donated.begin(), donated.end(), operands.front()) != donated.end();
}

}  // namespace

void update_in_place(OpKind kind, std::span<const ValueId> operands,
                     std::span<const ValueId> donated, OpMemory& memory) {
  if (updates_in_place(kind, operands, donated))
    memory.results.front() = {Alias::InPlace, 0};
}

Cost cost_of(const Program& program, const Op& op) {
  if (op.charged)
    return *op.charged;
  std::vector<ValueType> operands = types(program, op.operands);
  std::vector<ValueType> results = types(program, op.results);
  if (updates_in_place(op.kind, op.operands, op.donated))
    operands[0] = results[0] = operands[1];
  return rules(op.kind).cost(op.attributes, operands, results);
}

OpMemory memory_of(const Program& program, const Op& op) {
  OpMemory memory =
      rules(op.kind).memory(op.attributes, types(program, op.operands), types(program, op.results));
  update_in_place(op.kind, op.operands, op.donated, memory);
  return memory;
}

Folding op_folding(const Program& program, const Op& op, WorkType type) {
  const bool alone = program.mesh.devices() == 1 && exchanged_as(op.kind) != OpKind::PsumScatter;
  const bool left_away = alone || over_no_axes(op.attributes);
  return folding(type, rules(op.kind).form.combine, left_away ? Numerics::Ieee : program.numerics);
}

Location locate_result(Program& program, const ResultMemory& memory, Bytes size,
                       std::span<const ValueId> operands) {
  if (memory.alias != Alias::Operand && memory.alias != Alias::InPlace) {
    program.buffers.push_back({size, MemorySpace::Device});
    return {BufferId(program.buffers.size() - 1), Bytes()};
  }
  const Value& operand = program.value(operands[memory.operand]);
  ORRERY_CHECK(memory.offset >= Bytes() && memory.offset + size <= operand.type.size(),
               "a result in an operand's storage fits there");
  return {operand.buffer, operand.offset + memory.offset};
}

}  // namespace orrery
