#include "tests/simulator/analyze/timed_call.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/program/builder.h"
#include "models/program/sides.h"
#include "simulator/lower/lower.h"
#include "simulator/time/completion.h"

namespace orrery::test {

std::optional<TimedCall> try_timed(const Fabric& fabric, const Call& call, std::vector<Axis> axes) {
  Diagnostics diagnostics("call");
  ProgramBuilder builder(Mesh(axes), Checks::Shapes, diagnostics);
  std::vector<std::string> names;
  for (const Axis& axis : axes)
    names.push_back(axis.name);
  builder.argument("a", call.dtype, call.operand, names);
  std::vector<LogicalId> devices;
  for (uint32_t d = 0; d < Mesh(axes).devices(); ++d)
    devices.emplace_back(d);
  builder.thread("t", devices);
  OpRequest request;
  request.name = "r";
  request.kind = op_named(call.op)->kind;
  request.operands = {"a"};
  request.attributes.set("axis_name", std::vector<std::string>{"x"});
  for (const auto& [key, value] : call.parameters)
    request.attributes.set(key, value);
  if (!call.algorithm.empty())
    request.attributes.set("algorithm", call.algorithm);
  builder.op(std::move(request));
  const Program program = builder.finish();
  diagnostics.throw_if_any();
  Paths paths(fabric);
  const Lowered lowered = lower(program, {"c", fabric, {}}, paths, diagnostics);
  if (!diagnostics.empty())
    return std::nullopt;
  const Op& op = program.ops.front();
  const Collective& collective = lowered.collectives.front();
  FabricBounds bounds(paths);
  const auto ranks = static_cast<uint32_t>(collective.members.size());
  const ExchangedData exchange =
      exchanged_data(op, ranks, collective.work, exchanged_operand(program, op).shape.elements());
  return TimedCall{run_time(program, lowered, fabric).makespan - Instant(),
                   bounds.of(exchange, std::span(collective.vertices.begin(), ranks)),
                   bounds.busiest(collective)};
}

TimedCall timed(const Fabric& fabric, const Call& call) {
  const auto n = static_cast<int64_t>(fabric.devices());
  std::optional<TimedCall> result = try_timed(fabric, call, {{"x", n}});
  REQUIRE(result.has_value());
  REQUIRE(result->bound.has_value());
  return std::move(*result);
}

Duration at_50(int64_t bytes) {
  return transfer_time(Bytes(bytes), kFifty.bandwidth);
}

Call psum(int64_t bytes, std::string algorithm) {
  return {"psum", {}, {bytes}, std::move(algorithm), Dtype::U8};
}

}  // namespace orrery::test
