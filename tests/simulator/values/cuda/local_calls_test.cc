// Compares the kernel calls of local ops with the ops' evaluate rules, bit for bit.

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/op_rules.h"
#include "models/program/rules.h"
#include "simulator/values/cuda/kernels/calls.h"
#include "simulator/values/host_executor.h"
#include "tests/models/array/tensors.h"
#include "tests/simulator/values/cuda/host_memory.h"
#include "tests/simulator/values/cuda/local_cases.h"
#include "tests/support/property.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

std::vector<OpKind> local_kinds() {
  std::vector<OpKind> kinds;
  for (const OpRules& rules : all_rules())
    if (rules.family == Family::Local && rules.body == nullptr)  // those have no kernels
      kinds.push_back(rules.kind);
  return kinds;
}

/// Returns an operand whose place the result may take by the op's memory rule, or sometimes none.
std::optional<size_t> shared_operand(const Program& program, const Op& op, size_t result,
                                     Random& random) {
  const ResultMemory memory = memory_of(program, op).results[result];
  if (memory.alias == Alias::Fresh || random.below(2) == 0)
    return std::nullopt;
  if (memory.alias == Alias::Operand || memory.alias == Alias::InPlace)
    return memory.operand;
  const ValueType& type = program.value(op.results[result]).type;
  const size_t candidates = memory.alias == Alias::DyingFirst ? 1 : op.operands.size();
  for (size_t i = 0; i < candidates; ++i) {
    const ValueType& operand = program.value(op.operands[i]).type;
    if (operand.size() == type.size() && itemsize(operand.dtype) == itemsize(type.dtype) &&
        random.below(2) == 0)
      return i;
  }
  return std::nullopt;
}

/// Returns the difference between the calls and the rule; "" if they give the same.
std::string difference(OpKind kind, const LocalCase& of, Numerics numerics, Random& random) {
  Program program = program_of(kind, of);
  program.numerics = numerics;
  const Op& op = program.ops.front();
  const LogicalId device(random.below(6));
  std::vector<const Tensor*> operands;
  HostMemory memory(random);
  std::vector<cuda::DevicePointer> operand_places, result_places;
  for (const Tensor& operand : of.operands) {
    operands.push_back(&operand);
    operand_places.push_back(memory.place(operand));
  }
  const bool any = !op.results.empty();
  const std::vector<Tensor> expected =
      any ? evaluate_local(program, op, operands, device) : std::vector<Tensor>();
  for (size_t r = 0; r < expected.size(); ++r) {
    const Tensor& result = expected[r];
    const std::optional<size_t> shared = shared_operand(program, op, r, random);
    result_places.push_back(
        shared ? operand_places[*shared]
               : memory.place(result.size().count(), itemsize(result.dtype()).count()));
  }
  carry_out(cuda::local_calls(program, op, device, {operand_places, result_places}), random);
  for (size_t r = 0; r < expected.size(); ++r) {
    const Tensor got = memory.read(result_places[r], expected[r].dtype(), expected[r].shape());
    if (!identical(got, expected[r]))
      return fmt::format("result {} of {} ({}{})", r, rules(kind).name, name(expected[r].dtype()),
                         expected[r].shape().text());
  }
  return memory.margins_kept() ? "" : fmt::format("{} writes beside its result", rules(kind).name);
}

TEST_CASE("local kernels: every op, dtype and numerics, as the host computes it") {
  Random random(7);
  for (const OpKind kind : local_kinds()) {
    size_t cases = 0;
    for (const Dtype dtype : all_dtypes())
      for (const Numerics numerics : {Numerics::Ieee, Numerics::XlaCpu})
        for (uint64_t repeat = 0; repeat < tries(12); ++repeat) {
          const std::optional<LocalCase> made = random_local(kind, dtype, random);
          if (!made)
            continue;
          ++cases;
          CAPTURE(name(dtype));
          CAPTURE(repeat);
          CHECK(difference(kind, *made, numerics, random) == "");
        }
    CAPTURE(rules(kind).name);
    CHECK(cases > 0);
  }
}

TEST_CASE("local kernels: random ops, as the host computes them") {
  holds_for_all("host", [](uint64_t seed) {
    Random random(seed);
    const std::vector<OpKind> kinds = local_kinds();
    const OpKind kind = kinds[random.below(kinds.size())];
    const Dtype dtype = all_dtypes()[random.below(all_dtypes().size())];
    const Numerics numerics = random.below(2) == 0 ? Numerics::Ieee : Numerics::XlaCpu;
    const std::optional<LocalCase> made = random_local(kind, dtype, random);
    if (made)
      RC_ASSERT(difference(kind, *made, numerics, random) == "");
  });
}

}  // namespace
}  // namespace orrery::test
