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

namespace {

/// Returns a program of these calls, one after another.
Program program_of(std::span<const Call> calls, const std::vector<Axis>& axes) {
  Diagnostics diagnostics("calls");
  ProgramBuilder builder(Mesh(axes), Checks::Shapes, diagnostics);
  std::vector<std::string> names;
  for (const Axis& axis : axes)
    names.push_back(axis.name);
  for (size_t i = 0; i < calls.size(); ++i)
    builder.argument("a" + std::to_string(i), calls[i].dtype, calls[i].operand, names);
  std::vector<LogicalId> devices;
  for (uint32_t d = 0; d < Mesh(axes).devices(); ++d)
    devices.emplace_back(d);
  builder.thread("t", devices);
  for (size_t i = 0; i < calls.size(); ++i) {
    OpRequest request;
    request.name = "r" + std::to_string(i);
    request.kind = op_named(calls[i].op)->kind;
    request.operands = {"a" + std::to_string(i)};
    request.attributes.set("axis_name", std::vector<std::string>{"x"});
    for (const auto& [key, value] : calls[i].parameters)
      request.attributes.set(key, value);
    if (!calls[i].algorithm.empty())
      request.attributes.set("algorithm", calls[i].algorithm);
    builder.op(std::move(request));
  }
  Program program = builder.finish();
  diagnostics.throw_if_any();
  return program;
}

}  // namespace

std::optional<TimedCall> try_timed(const Fabric& fabric, const Call& call, std::vector<Axis> axes) {
  const Program program = program_of({&call, 1}, axes);
  Diagnostics diagnostics("call");
  Paths paths(fabric);
  const Lowered lowered = lower(program, {"c", fabric, {}}, paths, diagnostics);
  if (!diagnostics.empty())
    return std::nullopt;
  const Op& op = program.ops.front();
  const Collective& collective = lowered.collectives.front();
  FabricBounds bounds(fabric);
  const Demands all = demands(lowered, paths);
  const auto ranks = static_cast<uint32_t>(collective.members.size());
  const ExchangedData exchange =
      exchanged_data(op, ranks, collective.work, exchanged_operand(program, op).shape.elements());
  return TimedCall{run_time(program, lowered, fabric).makespan - Instant(),
                   bounds.of(exchange, std::span(collective.vertices.begin(), ranks)),
                   BusiestLinks(lowered, all, paths).of(collective)};
}

std::vector<std::optional<BusiestLink>> busiest_links(const Fabric& fabric,
                                                      std::span<const Call> calls) {
  const Program program = program_of(calls, {{"x", int64_t{fabric.devices()}}});
  Diagnostics diagnostics("calls");
  Paths paths(fabric);
  const Lowered lowered = lower(program, {"c", fabric, {}}, paths, diagnostics);
  diagnostics.throw_if_any();
  const Demands all = demands(lowered, paths);
  BusiestLinks links(lowered, all, paths);
  std::vector<std::optional<BusiestLink>> busiest;
  for (const Collective& collective : lowered.collectives)
    busiest.push_back(links.of(collective));
  return busiest;
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
