#include "simulator/values/host_executor.h"

#include <utility>

#include "models/base/check.h"
#include "models/program/rules.h"
#include "simulator/values/host_visitor.h"

namespace orrery {

namespace {

/// Where a list stops: before the first iteration that need not run.
uint64_t end_of(const Tape& tape, const std::map<uint32_t, uint64_t>& until) {
  for (uint32_t number = 0; number < tape.instructions().size(); ++number) {
    const std::vector<LoopedOrder::LoopRun> loops = tape.loops_at(tape.position(number));
    if (!loops.empty())
      if (const auto limit = until.find(loops.front().loop);
          limit != until.end() && limit->second < loops.front().trips)
        return loops.front().begin + limit->second * loops.front().length;
  }
  return tape.size();
}

}  // namespace

HostRun execute(const Program& program, const Lowered& lowered, DeviceValues arguments,
                ExecuteOptions options) {
  HostVisitor visitor(program, lowered, std::move(arguments), std::move(options.ended));
  ProgramWalk<HostVisitor> walk(program, lowered, visitor);
  if (!options.until.empty())
    for (uint32_t l = 0; l < walk.lists().size(); ++l)
      walk.hold(ListId(l), end_of(walk.lists().tape(ListId(l)), options.until));
  Stop stop = walk.run();
  const WalkDigest digest = visitor.digest();
  return {std::move(visitor).finish(), digest, std::move(stop)};
}

std::vector<Tensor> evaluate_local(const Program& program, const Op& op,
                                   std::span<const Tensor* const> operands, LogicalId device) {
  const EvaluateRule evaluate = rules(op.kind).evaluate;
  ORRERY_CHECK(evaluate != nullptr, "only local ops are evaluated on one device");
  std::vector<ValueType> types;
  for (const ValueId result : op.results)
    types.push_back(program.value(result).type);
  std::vector<Tensor> results =
      evaluate({program.mesh, device, op.attributes, operands, types, program.numerics});
  ORRERY_CHECK(results.size() == op.results.size(), "each result has a value");
  return results;
}

}  // namespace orrery
